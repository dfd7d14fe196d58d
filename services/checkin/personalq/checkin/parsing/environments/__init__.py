"""Places of training: what leads to them (`leads`), the place a phrase names (`places`), and places
that name a checkpoint themselves (`named`).
"""
