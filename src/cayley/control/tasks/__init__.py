"""Whole-body control: several tasks at once, within limits and with contacts, as a quadratic program in each period."""
