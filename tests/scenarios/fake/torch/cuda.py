"""The one device of the fake."""
import os


def is_available():
    return os.environ.get("FAKE_TORCH") != "no-device"


def get_device_name(number):
    return "fake device"


def synchronize():
    import torch
    torch.Device.wait()
