def draw(run):
    return None
