import { Type } from 'typebox';
import type { Pages } from '../../storage/contracts/paging.js';
import {
  PREVIEW_CHARACTERS,
  PREVIEW_MODELS,
  type RunPreview,
  type Runs,
  type RunSummary,
} from '../../storage/contracts/runs.js';
import type { Scores } from '../../storage/contracts/scores.js';
import { count, nullable, uuid } from './fields.js';
import { serializeListedRun } from './run-export.js';
import { runSchema } from './runs.js';
import { listedScores, serializeListedScore } from './scores.js';
import { serializeTextMatch, textMatchSchema } from './text-search.js';
import type { TextMatch } from '../../storage/contracts/search.js';

/** A run in the list of all agents' runs. */
export const listedRunSchema = Type.Object(
  {
    ...runSchema.properties,
    agent_id: uuid(),
    match: Type.Optional(textMatchSchema),
    scores: Type.Optional(listedScores),
    models: Type.Optional(
      nullable(
        Type.Array(Type.String(), {
          description: `Models named by its spans, at most ${PREVIEW_MODELS}. With \`previews\`; null for runs with more than 10 000 spans.`,
        }),
      ),
    ),
    error_span_count: Type.Optional(
      nullable(
        count(
          'Number of spans with status `failed` or `timed_out`. With `previews`; null for runs with more than 10 000 spans.',
        ),
      ),
    ),
    input_preview: Type.Optional(
      nullable(
        Type.String({
          description: `The beginning of its latest user input in readable form: up to ${PREVIEW_CHARACTERS} characters. With \`previews\`; null if its first spans have no input, or more than 256 KiB of it (in DuckDB with output and metadata).`,
        }),
      ),
    ),
  },
  { title: 'ListedRun' },
);

/** Where runs match a query, by trace id. */
type Matches = ReadonlyMap<string, TextMatch>;
const NO_MATCHES: Matches = new Map();

/** A run with the place where it matches, if there is one. */
export function serializeFoundRun(run: RunSummary, matches: Matches) {
  const match = matches.get(run.trace_id);
  return { ...serializeListedRun(run), ...(match && { match: serializeTextMatch(match) }) };
}

/** What is added to listed runs, and for whom. */
interface Added {
  readonly previews: Pick<Runs, 'preview'> | null;
  readonly scores: Pick<Scores, 'ofRuns'> | null;
  readonly userId: string;
  readonly abort: AbortSignal;
}

/** Pages of runs as they are printed. */
export async function* serializedRuns(
  pages: Pages<RunSummary>,
  added: Added,
  matches: Matches = NO_MATCHES,
): AsyncGenerator<readonly object[] | Uint8Array> {
  for await (const page of pages) {
    if (page instanceof Uint8Array) {
      yield page;
      continue;
    }
    const ids = page.map(({ trace_id }) => trace_id);
    const [previews, scores] = await Promise.all([previewsOf(ids, added), scoresOf(ids, added)]);
    yield page.map((run) => ({
      ...serializeFoundRun(run, matches),
      ...(previews && serializePreview(run, previews.get(run.trace_id))),
      ...(scores && { scores: scores.get(run.trace_id) ?? [] }),
    }));
  }
}

async function previewsOf(
  ids: readonly string[],
  { previews, userId, abort }: Added,
): Promise<ReadonlyMap<string, RunPreview> | null> {
  if (previews === null) return null;
  return new Map((await previews.preview(userId, ids, abort)).map((one) => [one.trace_id, one]));
}

async function scoresOf(
  ids: readonly string[],
  { scores, userId, abort }: Added,
): Promise<ReadonlyMap<string, readonly object[]> | null> {
  if (scores === null) return null;
  const byRun = new Map<string, object[]>();
  for (const score of await scores.ofRuns(userId, ids, abort)) {
    const known = byRun.get(score.trace_id) ?? [];
    known.push(serializeListedScore(score));
    byRun.set(score.trace_id, known);
  }
  return byRun;
}

/** @param preview undefined for a run without spans, with very many spans, or deleted meanwhile */
function serializePreview({ span_count }: RunSummary, preview: RunPreview | undefined) {
  if (preview !== undefined) {
    const { models, error_span_count, input_preview } = preview;
    return { models, error_span_count, input_preview };
  }
  const isEmpty = span_count === 0;
  return { models: isEmpty ? [] : null, error_span_count: isEmpty ? 0 : null, input_preview: null };
}
