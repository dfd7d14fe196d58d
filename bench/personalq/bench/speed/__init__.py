"""How fast and how small a quantized UNet is, beside what else one can install."""
