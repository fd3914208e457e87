"""The search: what is proposed, what is remembered, the loop, the finals. Samplers and storages are optuna's."""
