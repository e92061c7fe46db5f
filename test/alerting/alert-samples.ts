import type {
  Alert,
  AlertCondition,
  AlertRule,
  CompositeConfig,
  MetricStats,
  TargetStats,
  WindowStats,
} from '../../src/storage/contracts/alerts.js';
import type { AlertingSettings } from '../../src/storage/contracts/coordination.js';

export const USER = '018f0000-0000-7000-8000-00000000000a';
export const AGENT = '018f0000-0000-7000-8000-0000000000a1';
export const AGENT_NAME = 'billing';
export const UTC_SETTINGS: AlertingSettings = { windowMs: 3_600_000, minSamples: 1, timezone: 'UTC' };

/** Stats of an agent without any activity. */
export const NOTHING: TargetStats = { window: null, costs: [], activeAt: null };

let alerts = 0;

/** An alert of a user on an agent that has never fired; its cooldown is an hour. */
function anAlert(changes: Partial<Alert> = {}): Alert {
  alerts += 1;
  const id = `018f0000-0000-7000-8000-${String(alerts).padStart(12, '0')}`;
  const target = { agent_id: AGENT, agent_name: AGENT_NAME, target_service: null };
  const way = { channel: 'email', webhook_url: null, cooldown_minutes: 60, is_active: true } as const;
  const past = { last_fired_at: null, created_at: 0 };
  return {
    id,
    ...target,
    type: 'failure_rate',
    threshold: 0.5,
    composite_config: null,
    score_config: null,
    name: null,
    window_minutes: null,
    min_samples: null,
    ...way,
    ...past,
    ...changes,
  };
}

export function aRule(changes: Partial<Alert> = {}): AlertRule {
  return { userId: USER, alert: anAlert(changes), incident: null, evidence: null };
}

export function aComposite(
  operator: CompositeConfig['operator'],
  ...conditions: AlertCondition[]
): AlertRule {
  return aRule({ type: 'composite', threshold: 0, composite_config: { operator, conditions } });
}

/** @param rest `seq` of the newest run, which is the evidence */
export function runs(
  finished: number,
  failed: number,
  { seq = finished, ...rest }: Partial<WindowStats> & { readonly seq?: number } = {},
): WindowStats {
  const p95_ms = finished > 0 ? 100 : null;
  return { finished, failed, timed: finished, p95_ms, evidence: String(seq), isNew: [], ...rest };
}

/** The newest points of the series of a metric, by value. */
export function points(values: readonly number[], seq = 1): MetricStats {
  const isKnown = values.length > 0;
  return {
    series: values.length,
    min: isKnown ? Math.min(...values) : null,
    max: isKnown ? Math.max(...values) : null,
    evidence: String(isKnown ? seq : 0),
    isNew: [],
  };
}

/** Stats of an agent whose runs all failed, and all succeeded. */
export const BAD: TargetStats = { ...NOTHING, window: runs(4, 4) };
export const GOOD: TargetStats = { ...NOTHING, window: runs(4, 0) };
