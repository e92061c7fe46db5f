import type { NumberedVersion } from '../../contracts/prompts.js';
import {
  MOST_LABELS,
  MOST_SCORE_GROUPS,
  MOST_SCORE_NAMES,
  type ScoreCondition,
  type ScoreGroup,
  type ScoreOfRun,
  type ScoreRequest,
} from '../../contracts/scores.js';
import { PROMPT_LINKS } from '../../schema/prompt-links-table.js';
import { NEWEST_FORM_FIRST, SCORES } from '../../schema/scores-table.js';
import { SPANS, TRACES } from '../../schema/tables.js';
import {
  groupColumn,
  IS_GIVEN,
  MEAN,
  SCORE_LEVELS,
  scoreGroups,
  scoreOfRun,
} from '../../shared/score-groups.js';
import { RUN_KINDS } from '../../../signal/span.js';
import type { Connection } from '../files/connection.js';
import { literal } from '../files/database.js';
import { newest, relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import type { ReadContext } from '../segments/read-context.js';
import { TraceId } from '../segments/trace-id.js';
import type { Agents } from '../stats/agents.js';
import { dimensionsOf } from './run-conditions.js';

/** Where scores are read. */
export interface ScorePlace {
  readonly connection: Connection;
  readonly capture: Capture;
  readonly tenant: number;
}

/** Restricts {@link scoresOfRuns}. Conditions on values would find replaced scores. */
interface WantedScores {
  readonly name?: string;
  /** SQL for the ids of the runs. */
  readonly runs?: string;
  /** A condition on `scored_at`. */
  readonly given?: string;
}

/** The request, with the prompt resolved to the numbers of its versions. */
export interface StoredScoreRequest extends Omit<ScoreRequest, 'prompt'> {
  readonly prompts?: readonly NumberedVersion[];
}

const JUDGED = 'trace_id, span_id, id, name, value, label, scored_at, seq';
const TOTALS = `count(*) AS scores, count(value) AS valued, ${MEAN.duckdb}, min(value) AS least, max(value) AS most`;

/** The condition for runs with certain scores. */
export async function hasScores(
  place: ScorePlace,
  conditions: readonly ScoreCondition[] = [],
): Promise<string> {
  const sql = conditions.map(async (condition) => {
    const scores = await scoresOfRuns(place, { name: condition.name });
    const isIn = condition.kind === 'none' ? 'NOT IN' : 'IN';
    return `trace_id ${isIn} (SELECT trace_id FROM ${scores} WHERE ${testOf(condition)})`;
  });
  return (await Promise.all(sql)).join(' AND ') || 'TRUE';
}

function testOf(condition: ScoreCondition): string {
  switch (condition.kind) {
    case 'value':
      return `value ${condition.operator} '${condition.value}'::DOUBLE`;
    case 'label':
      return `label ${condition.operator} ${literal(condition.label)}`;
    default:
      return 'TRUE';
  }
}

/** Statistics of the scores of some runs. */
async function readScoreGroups(
  place: ScorePlace,
  agents: Agents,
  { group_by, prompts, interval, name, ...of }: StoredScoreRequest,
): Promise<ScoreGroup[]> {
  const { capture, tenant } = place;
  const runs = newest(capture, TRACES, runsOf(agents, tenant, of));
  const links = prompts && linksOf(capture, tenant, prompts);
  const used = links === undefined ? 'TRUE' : `trace_id IN (SELECT trace_id FROM ${links})`;
  const rows = await place.connection.rows(
    `WITH scored AS MATERIALIZED (
       SELECT s.name, s.value, s.label, s.trace_id, s.span_id, r.started_at, r.key
       FROM ${await scoresOfRuns(place, name === undefined ? {} : { name })} s
       JOIN (SELECT trace_id, started_at, ${groupColumn(group_by) ?? "''"} AS key FROM ${runs} WHERE ${used}) r USING (trace_id)),
     grouped AS MATERIALIZED (${groupedBy(group_by, capture, tenant, links)}),
     largest AS (SELECT name, key FROM grouped GROUP BY name, key ORDER BY count(*) DESC, name, key LIMIT ${MOST_SCORE_GROUPS}),
     counted AS (SELECT grouped.* FROM grouped JOIN largest USING (name, key))
     SELECT ${SCORE_LEVELS.group} AS level, name, key, NULL AS bucket, NULL AS label, ${TOTALS} FROM counted GROUP BY name, key
     UNION ALL
     (SELECT ${SCORE_LEVELS.label}, name, key, NULL, label, ${TOTALS} FROM counted WHERE label IS NOT NULL GROUP BY name, key, label
      QUALIFY row_number() OVER (PARTITION BY name, key ORDER BY count(*) DESC, label) <= ${MOST_LABELS})
     ${interval === undefined ? '' : `UNION ALL SELECT ${SCORE_LEVELS.bucket}, name, key, ${bucketOf(interval)} AS bucket, NULL, ${TOTALS} FROM counted GROUP BY name, key, bucket`}`,
  );
  return scoreGroups(rows, group_by, {
    agentOf: (number) => agents.byNumber(number),
    versions: prompts ?? [],
  });
}

function bucketOf(interval: number): string {
  const at = 'epoch_us(started_at)';
  return `${at} - ((${at} % ${interval}) + ${interval}) % ${interval}`;
}

/** SQL for `name`, `value`, `label`, `started_at` and `key` of the rows of `scored`, in the groups that they count in. */
function groupedBy(
  group: ScoreRequest['group_by'],
  capture: Capture,
  tenant: number,
  links: string | undefined,
): string {
  const columns = 's.name, s.value, s.label, s.started_at';
  if (group === 'prompt_version')
    return `SELECT ${columns}, l.prompt_no::VARCHAR AS key FROM scored s JOIN ${links ?? '(SELECT NULL::UUID AS trace_id, 0 AS prompt_no)'} l USING (trace_id)`;
  if (group !== 'model') return `SELECT ${columns}, coalesce(s.key::VARCHAR, '') AS key FROM scored s`;
  const isScored = `tenant = ${tenant} AND model IS NOT NULL`;
  const spans = `(SELECT trace_id, span_id, model FROM ${newest(capture, SPANS, isScored)} WHERE trace_id IN (SELECT trace_id FROM scored))`;
  return `WITH called AS MATERIALIZED (SELECT * FROM ${spans}),
    own AS (SELECT ${columns}, s.trace_id, c.model FROM scored s LEFT JOIN called c ON c.trace_id = s.trace_id AND c.span_id = s.span_id)
    SELECT name, value, label, started_at, coalesce(own.model, of_run.model, '') AS key
    FROM own LEFT JOIN (SELECT DISTINCT trace_id, model FROM called) of_run ON own.model IS NULL AND of_run.trace_id = own.trace_id`;
}

/** The runs that a request counts. */
function runsOf(
  agents: Agents,
  tenant: number,
  { agent_id, start_time, end_time, ...dimensions }: StoredScoreRequest,
): string {
  const numbers = agent_id === undefined ? [] : agents.namedById(tenant, agent_id);
  return [
    `tenant = ${tenant} AND kind = ${RUN_KINDS.indexOf('agent')}`,
    ...(agent_id === undefined
      ? []
      : [`agent_no IN (${numbers.map(({ agent_no }) => agent_no).join(', ') || '-1'})`]),
    ...(start_time === undefined ? [] : [`started_at >= make_timestamp(${start_time})`]),
    ...(end_time === undefined ? [] : [`started_at < make_timestamp(${end_time})`]),
    ...dimensionsOf(dimensions),
  ].join(' AND ');
}

function linksOf(capture: Capture, tenant: number, prompts: readonly NumberedVersion[]): string {
  const numbers = prompts.map(({ number }) => number).join(', ') || '-1';
  const links = relation(capture, PROMPT_LINKS, `tenant = ${tenant} AND prompt_no IN (${numbers})`);
  return `(SELECT DISTINCT trace_id, prompt_no FROM ${links})`;
}

/** The scores of some runs by name. @param traceIds in the store's own format */
async function readScoresByRun(place: ScorePlace, traceIds: readonly string[]): Promise<ScoreOfRun[]> {
  if (traceIds.length === 0) return [];
  const runs = traceIds.map((id) => `'${id}'::UUID`).join(', ');
  const rows = await place.connection.rows(
    `SELECT id AS trace_id, * EXCLUDE (id) FROM (
       SELECT trace_id::VARCHAR AS id, name, ${TOTALS}, arg_max(label, (scored_at, s.id)) FILTER (label IS NOT NULL) AS label
       FROM ${await scoresOfRuns(place, { runs })} s GROUP BY trace_id, name)
     QUALIFY row_number() OVER (PARTITION BY id ORDER BY name) <= ${MOST_SCORE_NAMES} ORDER BY trace_id, name`,
  );
  return rows.map(scoreOfRun);
}

/** The scores of runs, of their spans and of their responses as a relation of {@link JUDGED}, each in its newest form; no failed ones. */
export async function scoresOfRuns(
  { connection, capture, tenant }: ScorePlace,
  { name, runs, given = 'TRUE' }: WantedScores,
): Promise<string> {
  const isNamed = `${name === undefined ? 'TRUE' : `name = ${literal(name)}`} AND ${IS_GIVEN} AND ${given}`;
  const isOf = runs === undefined ? 'TRUE' : `trace_id IN (${runs})`;
  const ofIds = newestOfIds(capture, tenant, `${isNamed} AND trace_id IS NOT NULL AND ${isOf}`);
  const isOfResponse = `${isNamed} AND trace_id IS NULL AND response_key IS NOT NULL`;
  // Most users have no such scores; then the spans are not read.
  const ofResponses = relation(capture, SCORES, `tenant = ${tenant} AND ${isOfResponse}`);
  const [one] = await connection.rows(`SELECT 1 FROM ${ofResponses} LIMIT 1`);
  if (one === undefined) return `(SELECT ${JUDGED} FROM ${ofIds})`;
  const scores = newestOfIds(capture, tenant, isOfResponse);
  // If several spans of a run report one response, the counted one is judged.
  const spans = `(SELECT trace_id, split_part(call_key, '.', 4) AS key, arg_min(span_id, (same_as IS NOT NULL, started_at, span_id)) AS span_id
    FROM ${newest(capture, SPANS, `tenant = ${tenant} AND call_key IS NOT NULL AND ${isOf}`)}
    WHERE key IN (SELECT response_key FROM ${ofResponses}) GROUP BY trace_id, key)`;
  return `(SELECT ${JUDGED} FROM ${ofIds} UNION ALL
    SELECT p.trace_id, p.span_id, s.id, s.name, s.value, s.label, s.scored_at, s.seq FROM ${scores} s JOIN ${spans} p ON p.key = s.response_key)`;
}

/** The newest score of each id. An anti join takes a fifth of the time of a window over all scores. */
function newestOfIds(capture: Capture, tenant: number, where: string): string {
  const all = relation(capture, SCORES, `tenant = ${tenant}`);
  const wanted = relation(capture, SCORES, `tenant = ${tenant} AND ${where}`);
  return `(SELECT * FROM ${wanted} c WHERE NOT EXISTS (SELECT 1 FROM ${all} n WHERE n.id = c.id AND n.seq > c.seq)
    QUALIFY row_number() OVER (PARTITION BY id ORDER BY ${NEWEST_FORM_FIRST}) = 1)`;
}

/** The reads of the contract `Scores`. */
export class ScoreReads {
  readonly #agents: Agents;

  constructor(agents: Agents) {
    this.#agents = agents;
  }

  async groups({ tenant, long }: ReadContext, request: StoredScoreRequest): Promise<readonly ScoreGroup[]> {
    return await long(
      async (connection, capture) =>
        await readScoreGroups({ connection, capture, tenant }, this.#agents, request),
    );
  }

  async ofRuns({ tenant, short }: ReadContext, traceIds: readonly string[]): Promise<readonly ScoreOfRun[]> {
    return await short(
      async (connection, capture) =>
        await readScoresByRun(
          { connection, capture, tenant },
          traceIds.map((id) => new TraceId(id).text),
        ),
    );
  }
}
