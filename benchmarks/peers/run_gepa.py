"""A run of GEPA's optimize_anything: python run_gepa.py SETTINGS.json"""
import sys

from gepa.optimize_anything import EngineConfig, GEPAConfig, ReflectionConfig, optimize_anything

from peer_run import OBJECTIVE, Evaluator, Model, RunError, outcome_of, start_run


def main() -> None:
    settings, log = start_run()
    evaluator, model = Evaluator(settings, log), Model(settings, log)

    def evaluate(candidate: str):
        result = evaluator.evaluate(candidate)
        return result.score, {"Feedback": result.feedback}

    def ask(prompt):
        return model.ask([{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt)

    def is_finished(_state) -> bool:
        # GEPA goes on after a failed question, for ever if each one fails.
        return model.failure is not None or outcome_of(settings.log()).evaluations >= settings.evaluations

    optimize_anything(
        seed_candidate=settings.start_text(),
        evaluator=evaluate,
        objective=OBJECTIVE,
        background=settings.background_text(),
        config=GEPAConfig(
            # GEPA evaluates each parent and each accepted text again; its own cache answers these.
            engine=EngineConfig(seed=settings.seed, parallel=False, cache_evaluation=True,
                                cache_evaluation_storage="memory"),
            # None: the template in which GEPA puts the objective and the background.
            reflection=ReflectionConfig(reflection_lm=ask, reflection_prompt_template=None),
            stop_callbacks=is_finished,
        ),
    )
    if model.failure:
        raise RunError(model.failure)


if __name__ == "__main__":
    try:
        main()
    except RunError as error:
        sys.exit(str(error))
