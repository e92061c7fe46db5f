import type { Component } from '../component/component.js';
import type { Counter, Labels, Logger, Meter } from '../component/telemetry.js';

/** The effect of a failed expression on an item. */
export const ON_ERROR = ['keep', 'drop', 'refuse'] as const;

interface Failure {
  readonly place: string;
  readonly code: string;
}

/** Counts evaluations that fail. Of each expression the first failure is logged, without any value. */
export class EvaluationFailures {
  readonly #counter: Counter;
  readonly #logger: Logger;
  readonly #labels: Labels;
  readonly #logged = new Set<string>();
  #log = (failure: Failure): void => {
    this.#logFirst(failure);
  };
  /** For components with placement `any`: the one on the main thread logs for all its copies. */
  readonly shared: Pick<Component, 'startCopy' | 'answerCopy'> = {
    startCopy: (original) => {
      this.#log = (failure) => void original.call(failure).catch(() => undefined);
    },
    answerCopy: (message) => {
      this.#logFirst(message as Failure);
    },
  };

  /** @param kind of the component that evaluates */
  constructor(
    {
      id,
      meter,
      logger,
    }: {
      readonly id: string;
      readonly meter: Meter;
      readonly logger: Logger;
    },
    kind: 'processor' | 'exporter' = 'processor',
  ) {
    this.#labels = { [kind]: id };
    this.#logger = logger;
    this.#counter = meter.counter(`${kind}_expression_errors_total`, {
      description: 'Evaluations of an expression that failed.',
      labelNames: [kind],
    });
    this.#counter.add(0, this.#labels);
  }

  /** @param place of the expression in the configuration of the component: `spans[0]` */
  count(place: string, error: unknown): void {
    this.#counter.add(1, this.#labels);
    if (this.#logged.has(place)) return;
    this.#log({ place, code: codeOf(error) });
    this.#logged.add(place);
  }

  #logFirst({ place, code }: Failure): void {
    if (this.#logged.has(place)) return;
    this.#logged.add(place);
    this.#logger.warn(
      { expression: place, code },
      'An expression failed for an item; further failures are only counted',
    );
  }
}

/** The error code. The message may contain sent data and must not be logged. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'internal_error';
}
