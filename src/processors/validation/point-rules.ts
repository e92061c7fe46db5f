import { ItemProblems } from '../../component/item-problems.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { invariant } from '../../signal/checked.js';
import type { MetricPoint, MetricStream } from '../../signal/metric.js';
import type { Limits } from './rules.js';
import { isLonger } from './text-length.js';

/** Checks the points of one batch against the limits. What their metrics have in common is checked once. */
export class PointRules {
  readonly #limits: Limits;
  readonly #streams = new Map<MetricStream, string | undefined>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** @returns the first problem, with the number of further ones; undefined for a valid point */
  check(point: MetricPoint): string | undefined {
    return this.#checkStream(point.stream) ?? this.#checkPoint(point);
  }

  #checkStream(stream: MetricStream): string | undefined {
    if (this.#streams.has(stream)) return this.#streams.get(stream);
    const problems = new ItemProblems();
    const { maxNameLength, maxTextLength } = this.#limits;
    if (stream.name.trim() === '') problems.add('/stream/name', 'must not be empty');
    if (stream.name.includes('\0')) problems.add('/stream/name', 'must not contain the character U+0000');
    checkLength(problems, '/stream/name', stream.name, maxNameLength);
    checkLength(problems, '/stream/unit', stream.unit, maxNameLength);
    checkLength(problems, '/stream/description', stream.description, maxTextLength);
    this.#streams.set(stream, problems.reason);
    return problems.reason;
  }

  #checkPoint({ labels, distribution, exemplars }: MetricPoint): string | undefined {
    const problems = new ItemProblems();
    const { maxNameLength, maxTextLength, maxLabels, maxBuckets } = this.#limits;
    let count = 0;
    for (const key in labels) {
      count++;
      const value = invariant(labels[key], 'value of a label');
      if (isLonger(key, maxNameLength))
        problems.add('/labels', `must not have keys longer than ${maxNameLength} characters`);
      // Only texts that may be too long are measured, and the pointer is built only then.
      if (value.length > maxTextLength) checkLength(problems, `/labels/${key}`, value, maxTextLength);
    }
    if (count > maxLabels)
      problems.add('/labels', `must not be more than ${maxLabels}, but there are ${count}`);
    if (distribution !== null && bucketsOf(distribution) > maxBuckets)
      problems.add('/distribution', `must not have more than ${maxBuckets} buckets or quantiles`);
    if (exemplars !== null && exemplars.length > maxBuckets)
      problems.add('/exemplars', `must not be more than ${maxBuckets}`);
    return problems.reason;
  }
}

function checkLength(problems: ItemProblems, pointer: string, text: string, max: number): void {
  if (isLonger(text, max)) problems.add(pointer, `must not be longer than ${max} characters`);
}

function bucketsOf(distribution: JsonObject): number {
  const { bucket_counts, positive, negative, quantiles } = distribution;
  return (
    lengthOf(bucket_counts) + lengthOf(inside(positive)) + lengthOf(inside(negative)) + lengthOf(quantiles)
  );
}

function inside(buckets: JsonValue | undefined): JsonValue | undefined {
  return typeof buckets === 'object' && buckets !== null && !Array.isArray(buckets)
    ? buckets.bucket_counts
    : undefined;
}

function lengthOf(value: JsonValue | undefined): number {
  return Array.isArray(value) ? value.length : 0;
}
