import { setImmediate as turn } from 'node:timers/promises';
import { itemAt } from '../signal/checked.js';
import { uuidV7 } from '../signal/ids.js';
import type {
  Alert,
  AlertStats,
  AlertIncident,
  AlertRule,
  AlertRules,
  DecidedFiring,
  ExampleQuery,
  Observed,
  Resolution,
} from '../storage/contracts/alerts.js';
import { withFiring } from './evidence.js';
import type { Moment } from './moment.js';
import { portionsOf, targetOf, type Inquiry } from './observing.js';
import type { RuleIndex, WatchedRule } from './rule-index.js';
import { decide } from './state.js';
import { judgeAlert, type Verdict, unitOf } from './verdict.js';
import { formatTime } from '../signal/time.js';
import { showCondition } from './shown-condition.js';

/** Maximum number of targets and metrics in one query. */
const MOST_ASKED = 2000;
/** Number of rules evaluated without yielding: a few milliseconds. */
const JUDGED_IN_ONE_GO = 500;
/** Maximum number of firings, or of resolutions, in one write. */
const WRITTEN_AT_ONCE = 100;
/** Maximum number of traces named in the event; the rest are stored with the firing. */
const MOST_EXAMPLES = 5;

export interface EvaluationTools {
  /** The telemetry queries that evaluations use. */
  readonly stats: Pick<AlertStats, 'observe' | 'exampleTraces'>;
  /** The identity of that telemetry. */
  readonly source: string;
  readonly alerts: Pick<AlertRules, 'recordFirings' | 'recordResolutions'>;
  readonly index: RuleIndex;
  /** Reads the current state of rules, because another process has decided, or a change notification is still in transit. */
  readonly reread: () => Promise<void>;
  /** Called with the number of recorded firings or resolutions. */
  readonly onFired: (count: number) => void;
  readonly onResolved: (count: number) => void;
}

/** A rule that is to fire. */
interface FiringRule {
  readonly watched: WatchedRule;
  readonly verdict: Verdict;
}

/**
 * Evaluates rules at one moment and writes the results. A rule that changes meanwhile is skipped, because it is replaced by a new
 * object.
 *
 * @param stop ends the evaluation between two steps
 * @throws ConsumeError `storage_unavailable`: results written so far remain valid, the other rules are unchanged
 */
export async function evaluate(
  watched: Iterable<WatchedRule>,
  moment: Moment,
  tools: EvaluationTools,
  stop: AbortSignal,
): Promise<void> {
  for (const { inquiry, rules } of portionsOf(watched, MOST_ASKED)) {
    if (stop.aborted) return;
    const observed = await tools.stats.observe(inquiry.request(moment));
    const { firing, resolving } = await judge(rules, inquiry, observed, moment, tools.index);
    await inGroups(firing, stop, async (group) => fire(group, moment, tools));
    await inGroups(resolving, stop, async (group) => resolve(group, moment, tools));
  }
}

/** Decides which rules fire and which are resolved, yielding to other work regularly. */
async function judge(
  rules: readonly WatchedRule[],
  inquiry: Inquiry,
  observed: Observed,
  moment: Moment,
  index: RuleIndex,
): Promise<{ readonly firing: readonly FiringRule[]; readonly resolving: readonly WatchedRule[] }> {
  const firing: FiringRule[] = [];
  const resolving: WatchedRule[] = [];
  for (const [at, watched] of rules.entries()) {
    if (at % JUDGED_IN_ONE_GO === JUDGED_IN_ONE_GO - 1) await turn();
    if (!index.has(watched)) continue;
    const verdict = judgeAlert(watched.rule.alert, inquiry.scene(observed, watched), moment);
    const { action, quietSince } = decide(watched, verdict, moment.now);
    watched.quietSince = quietSince;
    if (action === 'fire') firing.push({ watched, verdict });
    if (action === 'resolve') resolving.push(watched);
  }
  return { firing, resolving };
}

async function inGroups<Item>(
  items: readonly Item[],
  stop: AbortSignal,
  write: (group: readonly Item[]) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < items.length && !stop.aborted; at += WRITTEN_AT_ONCE)
    await write(items.slice(at, at + WRITTEN_AT_ONCE));
}

async function fire(group: readonly FiringRule[], moment: Moment, tools: EvaluationTools): Promise<void> {
  const { alerts, index, source } = tools;
  const examples = await findExamples(group, tools);
  const still = group.filter(({ watched }) => index.has(watched));
  const firings = still.map((one) => toFiring(one, source, moment, examples.get(one) ?? []));
  const written = firings.length > 0 ? await alerts.recordFirings(firings) : [];
  tools.onFired(written.filter(Boolean).length);
  for (const [at, firing] of firings.entries()) {
    const watched = still[at]?.watched;
    if (watched && written[at] === true) noteFired(watched, index, firing);
  }
  if (written.includes(false)) await tools.reread();
}

async function resolve(group: readonly WatchedRule[], moment: Moment, tools: EvaluationTools): Promise<void> {
  const { alerts, index } = tools;
  const still = group.filter((watched) => index.has(watched));
  const resolutions = still.flatMap(({ rule }): Resolution[] => {
    const { alert, incident } = rule;
    if (!incident) return [];
    const data = resolvedData(rule, incident, moment.now);
    return [{ alertId: alert.id, incidentId: incident.id, resolvedAt: moment.now, data }];
  });
  const written = resolutions.length > 0 ? await alerts.recordResolutions(resolutions) : [];
  for (const [at, resolution] of resolutions.entries())
    if (written[at] === true) noteResolved(index, resolution);
  tools.onResolved(written.filter(Boolean).length);
  if (written.includes(false)) await tools.reread();
}

async function findExamples(
  group: readonly FiringRule[],
  { stats }: EvaluationTools,
): Promise<ReadonlyMap<FiringRule, readonly string[]>> {
  const asking = group.flatMap((one): { readonly one: FiringRule; readonly query: ExampleQuery }[] => {
    const query = exampleQuery(one);
    return query ? [{ one, query }] : [];
  });
  if (asking.length === 0) return new Map();
  const found = await stats.exampleTraces(asking.map(({ query }) => query));
  return new Map(asking.map(({ one }, at) => [one, itemAt(found, at)]));
}

/** The runs of the first met condition that uses runs or scores; null if only metrics and silence explain the firing. */
function exampleQuery({ watched, verdict }: FiringRule): ExampleQuery | null {
  for (const { condition, finding } of verdict.conditions) {
    const { type } = condition;
    if (!finding.met || type === 'metric_threshold' || type === 'inactivity') continue;
    const query = { target: targetOf(watched.rule), type, from: finding.from, to: finding.to };
    return type === 'score_threshold' ? { ...query, score: condition } : query;
  }
  return null;
}

function toFiring(
  { watched: { rule }, verdict }: FiringRule,
  source: string,
  { now }: Moment,
  examples: readonly string[],
): DecidedFiring {
  const { alert, incident: before } = rule;
  const eventId = uuidV7(now / 1000);
  const incident: AlertIncident = before
    ? { id: before.id, firings: before.firings + 1 }
    : { id: eventId, firings: 1 };
  return {
    alertId: alert.id,
    lastFiredAt: alert.last_fired_at,
    firedAt: now,
    eventId,
    incident,
    evidence: withFiring(
      rule.evidence,
      source,
      verdict.conditions.map(({ finding }) => finding.evidence),
    ),
    threshold: alert.threshold,
    value: verdict.value,
    data: firedData(alert, verdict, incident, now, examples.slice(0, MOST_EXAMPLES)),
    traceIds: examples,
  };
}

/** The rule may have been replaced during the write, by a version read before or after the firing; the latter already has it. */
function noteFired(watched: WatchedRule, index: RuleIndex, firing: DecidedFiring): void {
  const current = index.get(firing.alertId);
  if (!current || (current !== watched && current.rule.alert.last_fired_at === firing.firedAt)) return;
  index.fired(current, firing);
}

function noteResolved(index: RuleIndex, { alertId, incidentId }: Resolution): void {
  const current = index.get(alertId);
  if (current?.rule.incident?.id !== incidentId) return;
  current.rule = { ...current.rule, incident: null };
}

/** The `data` of the event `alert.fired`. @param incident including this firing */
export function firedData(
  alert: Alert,
  verdict: Verdict,
  incident: AlertIncident,
  firedAt: DecidedFiring['firedAt'],
  exampleTraceIds: readonly string[],
): object {
  return {
    ...ofAlert(alert),
    threshold: alert.threshold,
    value: verdict.value,
    unit: unitOf(alert.type),
    window: { from: formatTime(verdict.from), to: formatTime(verdict.to) },
    sample_count: verdict.samples,
    fired_at: formatTime(firedAt),
    incident_id: incident.id,
    repeat: incident.firings - 1,
    conditions: verdict.conditions.map(showCondition),
    example_trace_ids: exampleTraceIds,
  };
}

/** The `data` of the event `alert.resolved`. */
function resolvedData(
  { alert }: AlertRule,
  incident: AlertIncident,
  resolvedAt: Resolution['resolvedAt'],
): object {
  return {
    ...ofAlert(alert),
    incident_id: incident.id,
    fired_at: alert.last_fired_at === null ? null : formatTime(alert.last_fired_at),
    resolved_at: formatTime(resolvedAt),
  };
}

function ofAlert({ id, name, type, agent_id, agent_name, target_service }: Alert): object {
  return { alert_id: id, name, type, agent_id, agent_name, target_service };
}
