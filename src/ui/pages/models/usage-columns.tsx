import { Link } from 'wouter';
import type { Schemas } from '../../api/client.js';
import type { Column } from '../../parts/DataTable.js';
import { formatDuration } from '../../format/duration.js';
import { formatCount, formatMoney } from '../../format/number.js';
import { Count, Duration, Money, Percentage } from '../../parts/figures.js';
import { Missing } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import { runsOfModel } from '../../state/path.js';
import { modelName, unpricedReason } from './model-figures.js';

export type Model = Schemas['ModelUsage'];

function AgentNames({ agents }: { readonly agents: Schemas['ModelPerformance']['agents'] }) {
  const [first, ...others] = agents;
  if (first === undefined) return <Missing reason="No run of an agent" />;
  const costs = agents.map(
    ({ name, total_cost: cost }) => `${name}: ${cost === null ? 'no cost' : formatMoney(cost)}`,
  );
  return (
    <span title={costs.join('\n')}>
      <Link href={`/agents/${first.id}`}>{first.name === '' ? '(no name)' : first.name}</Link>
      {others.length > 0 && ` +${String(others.length)}`}
    </span>
  );
}

/** Columns of model usage by name. */
export const USAGE = {
  model: {
    name: 'model',
    header: 'Model',
    isWide: true,
    render: ({ model }) =>
      model === null || model === '' ? (
        <span title="Calls without a model, and usage that agents and tools report beyond their calls">
          {modelName(model)}
        </span>
      ) : (
        <Link href={runsOfModel(model)} title={model}>
          {model}
        </Link>
      ),
  },
  tokens: {
    name: 'tokens',
    header: 'Tokens in / out',
    isNumber: true,
    render: ({ input_tokens, output_tokens }) => (
      <span title={`${String(input_tokens)} / ${String(output_tokens)}`}>
        {formatCount(input_tokens)} / {formatCount(output_tokens)}
      </span>
    ),
  },
  unpriced: {
    name: 'unpriced',
    header: 'Unpriced',
    hint: 'Calls without a cost: they report no tokens, or their model has no price',
    isNumber: true,
    render: ({ calls, priced_calls, performance }) =>
      priced_calls < calls ? (
        <span className={parts['bad']} title={unpricedReason(performance)}>
          {formatCount(calls - priced_calls)}
        </span>
      ) : (
        '0'
      ),
  },
  calls: {
    name: 'calls',
    header: 'Calls',
    isNumber: true,
    render: ({ calls }) => <Count value={calls} missing="" />,
  },
  input: {
    name: 'input',
    header: 'Input tokens',
    isNumber: true,
    render: ({ input_tokens }) => <Count value={input_tokens} missing="" />,
  },
  output: {
    name: 'output',
    header: 'Output tokens',
    isNumber: true,
    render: ({ output_tokens }) => <Count value={output_tokens} missing="" />,
  },
  cost: {
    name: 'cost',
    header: 'Cost',
    isNumber: true,
    render: ({ total_cost }) => (
      <Money value={total_cost} missing="No calls have a cost: the model has no price" />
    ),
  },
  each: {
    name: 'each',
    header: 'Per call',
    hint: 'Average cost of the calls that have one',
    isNumber: true,
    isSpare: true,
    render: ({ total_cost, priced_calls }) => (
      <Money
        value={total_cost === null || priced_calls === 0 ? null : total_cost / priced_calls}
        missing="No calls have a cost"
      />
    ),
  },
  failed: {
    name: 'failed',
    header: 'Failed',
    hint: 'Failed or timed out, as a share of calls',
    isNumber: true,
    render: ({ calls, performance }) => (
      <span className={(performance?.failed_calls ?? 0) > 0 ? parts['bad'] : undefined}>
        <Percentage
          value={performance === undefined || calls === 0 ? null : (100 * performance.failed_calls) / calls}
          missing="No calls"
        />
      </span>
    ),
  },
  duration: {
    name: 'duration',
    header: 'p50 / p95',
    hint: 'Median and 95th percentile of call durations',
    isNumber: true,
    render: ({ performance: { p50_ms = null, p95_ms = null } = {} }) =>
      p50_ms === null || p95_ms === null ? (
        <Missing reason="No calls ended in this period" />
      ) : (
        <span title={`${String(p50_ms)} ms / ${String(p95_ms)} ms`}>
          {formatDuration(p50_ms)} / {formatDuration(p95_ms)}
        </span>
      ),
  },
  first: {
    name: 'first',
    header: 'First token',
    hint: 'Median time to the first chunk of the answer',
    isNumber: true,
    isSpare: true,
    render: ({ performance }) => (
      <Duration
        value={performance?.first_chunk_ms ?? null}
        missing="No call reports the time to its first chunk"
      />
    ),
  },
  speed: {
    name: 'speed',
    header: 'Tokens/s',
    hint: 'Output tokens per second of call duration',
    isNumber: true,
    isMinor: true,
    render: ({ performance }) => (
      <Count
        value={performance?.tokens_per_second ? Math.round(performance.tokens_per_second) : null}
        missing="No call has both output tokens and a duration"
      />
    ),
  },
  agents: {
    name: 'agents',
    header: 'Agents',
    hint: 'Agents of the calls, the highest cost first',
    isCut: true,
    render: ({ performance }) => <AgentNames agents={performance?.agents ?? []} />,
  },
} as const satisfies Readonly<Record<string, Column<Model>>>;
