import { uuidV7 } from '../src/signal/ids.js';
import type { Alert, AlertRules } from '../src/storage/contracts/alerts.js';
import type { AgentSummary } from '../src/storage/contracts/runs.js';

const MOST = 1_000_000;
/** Creations under way at once: they share transactions. */
const AT_ONCE = 200;

/** What a rule of a bench says; the rest is the same for all. */
type RuleBase = Pick<Alert, 'type' | 'threshold'> & Partial<Pick<Alert, 'composite_config'>>;

/** One of each kind: some are met, and their cooldown lets them fire once. */
const SAYINGS: readonly RuleBase[] = [
  { type: 'failure_rate', threshold: 0.5 },
  { type: 'latency_threshold', threshold: 30_000 },
  { type: 'cost_threshold', threshold: 1000 },
  { type: 'inactivity', threshold: 24 },
  {
    type: 'composite',
    threshold: 0,
    composite_config: {
      operator: 'and',
      conditions: [
        { type: 'failure_rate', source: 'ai', threshold: 0.2 },
        { type: 'metric_threshold', source: 'infra', metric_name: 'cpu.load', operator: 'gt', value: 0.9 },
      ],
    },
  },
];

/** Creates rules over agents: of each kind as many. */
export async function createRules(
  alerts: AlertRules,
  userId: string,
  agents: readonly Pick<AgentSummary, 'id' | 'name'>[],
  rules: number,
): Promise<void> {
  const now = Date.now() * 1000;
  for (let from = 0; from < rules; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, rules - from) }, (_, i) => from + i);
    await Promise.all(
      some.map(async (i) => {
        const rule = SAYINGS[i % SAYINGS.length] ?? { type: 'inactivity', threshold: 24 };
        const agent = agents[Math.floor(i / SAYINGS.length) % agents.length];
        if (agent === undefined) throw new Error('There is no agent.');
        const outcome = await alerts.create(userId, alertOver(agent, rule, now), MOST);
        if (outcome !== 'created') throw new Error(`An alert could not be created: ${outcome}.`);
      }),
    );
  }
}

function alertOver({ id, name }: Pick<AgentSummary, 'id' | 'name'>, rule: RuleBase, now: number): Alert {
  return {
    id: uuidV7(now / 1000),
    agent_id: id,
    agent_name: name,
    composite_config: null,
    cooldown_minutes: 1440,
    is_active: true,
    channel: 'email',
    webhook_url: null,
    target_service: null,
    last_fired_at: null,
    created_at: now,
    ...rule,
  };
}
