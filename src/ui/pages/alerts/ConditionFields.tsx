import { Plus, X } from 'lucide-react';
import { Choice } from '../../parts/Choice.js';
import { SelectField, TextField } from '../../parts/FormField.js';
import parts from '../../parts/parts.module.css';
import { LIMITS, type ConditionDraft } from './draft.js';
import { OPERATORS, TYPES } from './labels.js';
import styles from './alerts.module.css';

const KINDS: Readonly<Record<ConditionDraft['type'], string>> = {
  failure_rate: TYPES.failure_rate,
  cost_threshold: TYPES.cost_threshold,
  inactivity: TYPES.inactivity,
  metric_threshold: 'Metric',
};
const LIMIT = 10;
const MINIMUM = 2;

/** The conditions of a composite rule. @param problems by `composite_config/conditions/0/threshold` */
export function ConditionFields({
  operator,
  conditions,
  metrics,
  problems,
  onChange,
}: {
  readonly operator: 'and' | 'or';
  readonly conditions: readonly ConditionDraft[];
  readonly metrics: readonly string[];
  readonly problems: Readonly<Record<string, string | undefined>>;
  readonly onChange: (change: {
    readonly operator?: 'and' | 'or';
    readonly conditions?: readonly ConditionDraft[];
  }) => void;
}) {
  const put = (at: number, some: Partial<ConditionDraft>): void => {
    onChange({ conditions: conditions.map((each, i) => (i === at ? { ...each, ...some } : each)) });
  };
  const problem = problems['composite_config/conditions'] ?? problems['composite_config'];
  return (
    <fieldset className={styles['conditions']}>
      <legend>Conditions</legend>
      <Choice
        label="Fires when"
        value={operator}
        options={{ and: 'all conditions are met', or: 'any condition is met' }}
        onChange={(value) => {
          onChange({ operator: value === 'or' ? 'or' : 'and' });
        }}
      />
      {conditions.map((condition, at) => (
        <Condition
          key={at}
          number={at + 1}
          condition={condition}
          metrics={metrics}
          problemOf={(field) => problems[`composite_config/conditions/${String(at)}/${field}`]}
          onChange={(some) => {
            put(at, some);
          }}
          onRemove={
            conditions.length > MINIMUM
              ? () => {
                  onChange({ conditions: conditions.filter((_, i) => i !== at) });
                }
              : undefined
          }
        />
      ))}
      {problem !== undefined && <p className={parts['bad']}>{problem}</p>}
      {conditions.length < LIMIT && (
        <button
          type="button"
          className={parts['button']}
          onClick={() => {
            const next: ConditionDraft = { type: 'cost_threshold', limit: '', metric: '', operator: 'gt' };
            onChange({ conditions: [...conditions, next] });
          }}
        >
          <Plus size={14} aria-hidden="true" /> Add condition
        </button>
      )}
    </fieldset>
  );
}

function Condition({
  number,
  condition: { type, limit, metric, operator },
  metrics,
  problemOf,
  onChange,
  onRemove,
}: {
  readonly number: number;
  readonly condition: ConditionDraft;
  readonly metrics: readonly string[];
  readonly problemOf: (field: string) => string | undefined;
  readonly onChange: (some: Partial<ConditionDraft>) => void;
  readonly onRemove: (() => void) | undefined;
}) {
  const isMetric = type === 'metric_threshold';
  return (
    <div role="group" aria-label={`Condition ${String(number)}`} className={styles['condition']}>
      <SelectField
        label="Type"
        value={type}
        options={KINDS}
        problem={problemOf('type') ?? problemOf('source')}
        onText={(text) => {
          onChange({ type: text as ConditionDraft['type'] });
        }}
      />
      {isMetric && (
        <>
          <TextField
            label="Metric"
            hint="Metric name as sent"
            options={metrics}
            value={metric}
            problem={problemOf('metric_name')}
            onText={(text) => {
              onChange({ metric: text });
            }}
          />
          <SelectField
            label="Comparison"
            value={operator}
            options={OPERATORS}
            problem={problemOf('operator')}
            onText={(text) => {
              onChange({ operator: text as ConditionDraft['operator'] });
            }}
          />
        </>
      )}
      <TextField
        label={LIMITS[type]?.label ?? ''}
        hint={LIMITS[type]?.hint}
        inputMode="decimal"
        value={limit}
        problem={problemOf('threshold') ?? problemOf('value')}
        onText={(text) => {
          onChange({ limit: text });
        }}
      />
      {onRemove && (
        <button type="button" className={parts['button']} onClick={onRemove}>
          <X size={14} aria-hidden="true" /> Remove
        </button>
      )}
    </div>
  );
}
