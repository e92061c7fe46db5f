import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { Choice } from '../../parts/Choice.js';
import parts from '../../parts/parts.module.css';
import { RangeChoice } from '../../parts/RangeChoice.js';
import { CHIPS, STATE, type Chip, type RunsState } from './runs-state.js';

const NAMES = Object.keys(CHIPS) as Chip[];

/** Filters of the run list: the common ones, and chips for the rest. */
export function Filters({
  state,
  onChange,
}: {
  readonly state: RunsState;
  readonly onChange: (change: Partial<RunsState>) => void;
}) {
  const set = (name: keyof RunsState, value: string): void => {
    const parsed = value === '' ? STATE[name].initial : STATE[name].parse(value);
    if (parsed !== undefined) onChange({ [name]: parsed });
  };
  return (
    <div className={parts['filters']} role="group" aria-label="Filters">
      <RangeChoice
        label="Period"
        value={state.range}
        onChange={(value) => {
          set('range', value);
        }}
      />
      <Choice
        label="Status"
        value={state.status}
        options={{
          '': 'Any',
          completed: 'Completed',
          failed: 'Failed',
          timed_out: 'Timed out',
          running: 'Running',
        }}
        onChange={(value) => {
          set('status', value);
        }}
      />
      <Choice
        label="Success"
        value={state.success}
        options={{ '': 'Any', true: 'Yes', false: 'No' }}
        onChange={(value) => {
          set('success', value);
        }}
      />
      <Choice
        label="Show"
        value={state.kind}
        options={{ agent: 'Agent runs', other: 'Other traces', all: 'All' }}
        onChange={(value) => {
          set('kind', value);
        }}
      />
      {NAMES.filter((name) => state[name] !== STATE[name].initial).map((name) => (
        <button
          key={name}
          type="button"
          className={parts['button']}
          onClick={() => {
            set(name, '');
          }}
        >
          {CHIPS[name].label}: {String(state[name])} <X size={14} aria-hidden="true" />
          <span className={parts['unseen']}>remove</span>
        </button>
      ))}
      <AddFilter onAdd={set} />
    </div>
  );
}

function AddFilter({ onAdd }: { readonly onAdd: (name: Chip, value: string) => void }) {
  const [name, setName] = useState<Chip>('model');
  const [value, setValue] = useState('');
  const [isOpen, setOpen] = useState(false);
  const isWrong = value !== '' && STATE[name].parse(value) === undefined;
  if (!isOpen)
    return (
      <button
        type="button"
        className={parts['button']}
        onClick={() => {
          setOpen(true);
        }}
      >
        <Plus size={14} aria-hidden="true" /> Filter
      </button>
    );
  return (
    <form
      className={parts['label']}
      onSubmit={(event) => {
        event.preventDefault();
        if (value === '' || isWrong) return;
        onAdd(name, value);
        setValue('');
        setOpen(false);
      }}
    >
      <select
        className={parts['field']}
        aria-label="Filter by"
        value={name}
        onChange={(event) => {
          setName(event.target.value as Chip);
        }}
      >
        {NAMES.map((each) => (
          <option key={each} value={each}>
            {CHIPS[each].label}
          </option>
        ))}
      </select>
      {name === 'type' ? (
        <select
          className={parts['field']}
          aria-label={CHIPS[name].label}
          value={value}
          onChange={(event) => {
            setValue(event.target.value);
          }}
        >
          {['', 'agent', 'llm', 'tool', 'http', 'db', 'custom'].map((type) => (
            <option key={type} value={type}>
              {type === '' ? 'Type…' : type}
            </option>
          ))}
        </select>
      ) : (
        <input
          autoFocus
          className={parts['field']}
          aria-label={CHIPS[name].label}
          aria-invalid={isWrong}
          inputMode={CHIPS[name].kind === 'number' ? 'decimal' : 'text'}
          placeholder={
            name === 'agent'
              ? 'Agent id'
              : name === 'score'
                ? 'rating<0.5, tone=polite, !rating'
                : CHIPS[name].kind === 'number'
                  ? 'Number'
                  : 'Exact value'
          }
          value={value}
          onChange={(event) => {
            setValue(event.target.value);
          }}
        />
      )}
      <button type="submit" className={parts['button']} disabled={value === '' || isWrong}>
        Add
      </button>
    </form>
  );
}
