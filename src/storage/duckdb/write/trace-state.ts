import type { Micros } from '../../../signal/time.js';
import type { NamedHeader } from '../../../runs/rules/following-header.js';
import type { HeaderRow } from '../../../runs/rules/rows.js';
import { RunState, type AppliedRun } from '../../../runs/run-state.js';
import type { SpanState } from '../../../runs/spans/span-state.js';
import type { CommitRanges } from '../segments/commit-ranges.js';
import type { TraceLinks } from './trace-links.js';
import type { RunSize } from './run-size.js';

/** The newest stored header. */
export interface StoredHeader {
  /** The commit that wrote it. */
  readonly seq: number;
  readonly agentNo: number;
  readonly header: HeaderRow;
}

/** The state of a run, and its stored location. */
export class TraceState extends RunState {
  /** Null for a new trace. */
  stored: StoredHeader | null;
  /** The commits with rows of its spans. */
  commits: CommitRanges;
  /** Whether its header stops following its spans with the current commit: {@link truncateIfAsked}. */
  isToTruncate = false;
  /** The prompt versions that it used; null if not loaded. */
  links: TraceLinks | null = null;

  constructor(
    named: NamedHeader,
    place: {
      readonly lastSeenAt: Micros;
      readonly stored: StoredHeader | null;
      readonly commits: CommitRanges;
      readonly isMapped: boolean;
      readonly hasEnded: boolean;
    },
    size: RunSize,
  ) {
    super(named, { ...place, isStored: place.stored !== null }, size.maxSpans);
    this.stored = place.stored;
    this.commits = place.commits;
  }

  truncateIfAsked(): void {
    if (!this.isToTruncate) return;
    this.isToTruncate = false;
    this.truncate();
  }

  override finish(seq: number): AppliedRun {
    const applied = super.finish(seq);
    if (applied.spans.length > 0) this.commits = this.commits.with(seq);
    return applied;
  }

  /** Like {@link written}, including the header. */
  committed(seq: number, agentNo: number, spans: readonly SpanState[]): StoredHeader {
    this.stored = { seq, agentNo, header: this.header };
    this.written(seq, spans);
    return this.stored;
  }
}
