import { Link } from 'wouter';
import type { Schemas } from '../../api/client.js';
import type { Column } from '../../parts/DataTable.js';
import { Count, Money, Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { runsOfModel } from '../../state/path.js';
import { modelName } from './model-figures.js';

export type Model = Schemas['ModelUsage'];

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
  unpriced: {
    name: 'unpriced',
    header: 'Unpriced calls',
    hint: 'Calls without a reported cost whose model has no price',
    isNumber: true,
    render: ({ calls, priced_calls }) => (
      <span className={priced_calls < calls ? parts['bad'] : undefined}>
        <Count value={Math.max(0, calls - priced_calls)} missing="" />
      </span>
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
    header: 'Cost per call',
    hint: 'Average over calls with a cost',
    isNumber: true,
    render: ({ total_cost, priced_calls }) => (
      <Money
        value={total_cost === null || priced_calls === 0 ? null : total_cost / priced_calls}
        missing="No calls have a cost"
      />
    ),
  },
  last: {
    name: 'last',
    header: 'Last call',
    isNumber: true,
    render: ({ last_call_at }) => <Time at={last_call_at} relative />,
  },
} as const satisfies Readonly<Record<string, Column<Model>>>;
