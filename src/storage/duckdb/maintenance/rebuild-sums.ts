import { SPAN_TYPES } from '../../../signal/span.js';
import { NO_GRADE, encodeGrade, type Grade } from '../../../signal/span-grade.js';
import { formatTime } from '../../../signal/time.js';
import { hourRanges } from './hour-ranges.js';
import { RangeSums, UNNUMBERED } from './range-sums.js';
import type { RebuildWork } from './rebuild-work.js';
import type { Append } from '../write/change.js';
import type { Rows } from '../write/rows.js';
import { sumRows, type SumPart } from '../write/tenant-hours.js';

/** Rows per commit. */
const CORRECTIONS = 2000;
const HOUR = 3_600_000_000;

/** Approximate bytes of a row, comparable to the encoded rows of a batch. */
const ROW_BYTES = 40;

/**
 * Derives the sums of nodes and edges from the stored spans of all traces in the map, compares them with the stored sums, and
 * commits the corrections. Works by ranges of hours: a trace counts in one hour only, so each range can be compared separately.
 *
 * @returns the number of traces
 */
export async function rebuildSums(work: RebuildWork): Promise<number> {
  const { ranges, traces } = await work.read((connection, capture) =>
    hourRanges(connection, capture, work.size.part),
  );
  for (const range of ranges) {
    const differing = await work.read((connection, capture) =>
      new RangeSums(work, connection, capture).compare(range),
    );
    for (const part of differing) work.findings.add('sums', part.tenant, () => asText(work, part));
    if (!work.dryRun) await correct(work, differing.filter(isNumbered));
  }
  return traces;
}

async function correct({ writer, throwIfStopped }: RebuildWork, parts: readonly SumPart[]): Promise<void> {
  for (let next = 0; next < parts.length; next += CORRECTIONS) {
    throwIfStopped();
    await writer.write({ kind: 'append', append: new SumCorrections(parts.slice(next, next + CORRECTIONS)) });
  }
}

function isNumbered(part: SumPart): boolean {
  const numbers = part.kind === 'node' ? [part.node.node_no] : [part.edge.source_no, part.edge.target_no];
  return numbers.every((number) => number < UNNUMBERED);
}

function asText(work: RebuildWork, part: SumPart): string {
  const place = `hour ${formatTime(part.hour * HOUR)}`;
  if (part.kind === 'edge') {
    const { source_no: source, target_no: target, spans, grade } = part.edge;
    return `${place}: the edge from ${nameOf(work, source)} to ${nameOf(work, target)} has ${amount(spans, 'span', grade)}.`;
  }
  const { node_no: node, type, spans, traces, grade } = part.node;
  const amounts = [
    ...(spans === 0 ? [] : [amount(spans, 'span', grade)]),
    ...(traces === 0 ? [] : [amount(traces, 'trace')]),
  ];
  return `${place}: the node ${nameOf(work, node)} of type ${SPAN_TYPES[type] ?? type} has ${amounts.join(' and ')}.`;
}

function ofGrade(grade: Grade | null): string {
  return grade === null ? ' without a grade, counted by an older version' : encodeGrade(grade);
}

/** @param lacking how many to add, or, if negative, to subtract */
function amount(lacking: number, noun: string, grade: Grade | null = NO_GRADE): string {
  const count = Math.abs(lacking);
  return `${count} ${noun}${count === 1 ? '' : 's'}${ofGrade(grade)} too ${lacking > 0 ? 'few' : 'many'}`;
}

function nameOf({ services, agents }: RebuildWork, node: number): string {
  const name = node >= UNNUMBERED ? (agents.byNumber(node - UNNUMBERED)?.name ?? '') : services.name(node);
  return JSON.stringify(name);
}

/**
 * Corrections that wait for their commit. They are parts of sums like those of any commit, so other commits between their
 * computation and their own commit do not invalidate them.
 */
class SumCorrections implements Append {
  readonly counted = null;
  readonly items = 0;
  readonly buffers: readonly ArrayBuffer[] = [];
  readonly #parts: readonly SumPart[];

  constructor(parts: readonly SumPart[]) {
    this.#parts = parts;
  }

  get bytes(): number {
    return this.#parts.length * ROW_BYTES;
  }

  get weight(): number {
    return this.#parts.length;
  }

  rows(seq: number): Rows[] {
    return sumRows(seq, this.#parts);
  }

  committed(): void {
    // Nothing is cached in memory.
  }

  rolledBack(): void {
    // Nothing is cached in memory.
  }
}
