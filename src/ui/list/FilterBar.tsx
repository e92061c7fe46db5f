import { Plus, X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Choice } from '../parts/Choice.js';
import { cx } from '../parts/cx.js';
import parts from '../parts/parts.module.css';
import { Popover } from '../parts/Popover.js';
import { RangeChoice } from '../parts/RangeChoice.js';
import { useListbox } from '../parts/use-listbox.js';
import {
  MAX_KEYED,
  OPERATORS,
  parseCondition,
  parseKeyed,
  printCondition,
  printKeyed,
  type FilterField,
  type Operator,
} from './filters.js';
import { Suggestions, useAgentName, useSuggestions } from './suggestions.js';
import styles from './list.module.css';

type Values = Readonly<Record<string, string | number | boolean>>;

interface Props {
  /** Filters that can be added, by name in the URL. */
  readonly fields: Readonly<Record<string, FilterField>>;
  /** Values of the fields; others are ignored. */
  readonly values: Values;
  /** Values of fields without a filter. */
  readonly initial: Values;
  readonly range: string;
  /** Without the option for all time. */
  readonly isBounded?: boolean;
  /** Called with URL values. */
  readonly onChange: (change: Readonly<Record<string, string>>) => void;
  /** Further choices. */
  readonly children?: ReactNode;
}

/** The filters of a list: its period, choices of the page, a chip for each other filter, and a form to add one. */
export function FilterBar({ fields, values, initial, range, isBounded, onChange, children }: Props) {
  const names = Object.keys(fields);
  return (
    <div className={parts['filters']} role="group" aria-label="Filters">
      <RangeChoice
        label="Period"
        bounded={isBounded === true}
        value={range}
        onChange={(value) => {
          onChange({ range: value });
        }}
      />
      {children}
      {names
        .filter((name) => values[name] !== initial[name])
        .map((name) => (
          <Chips
            key={name}
            field={fields[name] as FilterField}
            value={String(values[name])}
            onChange={(value) => {
              onChange({ [name]: value });
            }}
          />
        ))}
      {names.length > 0 && (
        <Popover icon={Plus} label="Filter">
          {(close) => (
            <AddFilter
              fields={fields}
              values={values}
              onAdd={(name, value) => {
                onChange({ [name]: value });
                close();
              }}
              onCancel={close}
            />
          )}
        </Popover>
      )}
    </div>
  );
}

/** The chips of a field: one, or one per key. */
function Chips({
  field,
  value,
  onChange,
}: {
  readonly field: FilterField;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const agent = useAgentName(field.suggest === 'agent' ? value : '');
  if (field.kind === 'keyed') {
    const conditions = parseKeyed(value) ?? [];
    return conditions.map((condition) => (
      <Chip
        key={`${condition.key} ${condition.operator} ${condition.value}`}
        label={`${field.label} ${condition.key}`}
        operator={condition.operator}
        value={condition.value}
        onRemove={() => {
          onChange(printKeyed(conditions.filter((each) => each !== condition)));
        }}
      />
    ));
  }
  const [operator, text] = field.hasOperators === true ? parseCondition(value) : (['=', value] as const);
  return (
    <Chip
      label={field.label}
      operator={operator}
      value={field.suggest === 'agent' ? agent : text}
      onRemove={() => {
        onChange('');
      }}
    />
  );
}

function Chip({
  label,
  operator,
  value,
  onRemove,
}: {
  readonly label: string;
  readonly operator: Operator;
  readonly value: string;
  readonly onRemove: () => void;
}) {
  return (
    <button type="button" className={cx(parts['button'], styles['chip'])} onClick={onRemove}>
      <span title={value}>
        {label}
        {operator === '=' ? ':' : ` ${OPERATORS[operator]}`} {value}
      </span>{' '}
      <X size={14} aria-hidden="true" />
      <span className={parts['unseen']}>remove</span>
    </button>
  );
}

function AddFilter({
  fields,
  values,
  onAdd,
  onCancel,
}: {
  readonly fields: Props['fields'];
  readonly values: Values;
  readonly onAdd: (name: string, value: string) => void;
  readonly onCancel: () => void;
}) {
  const [name, setName] = useState(() => Object.keys(fields)[0] ?? '');
  const [key, setKey] = useState('');
  const [operator, setOperator] = useState<Operator>('=');
  const [value, setValue] = useState('');
  const field = fields[name] as FilterField;
  const isKeyed = field.kind === 'keyed';
  const known = isKeyed ? (parseKeyed(String(values[name])) ?? []) : [];
  const isFull = known.length >= MAX_KEYED;
  const isWrong = field.kind === 'number' && value !== '' && !(Number(value) >= 0);
  const isReady =
    value !== '' && !isWrong && field.isPicked !== true && (!isKeyed || (key !== '' && !isFull));
  const add = (given: string): void => {
    if (!isKeyed) onAdd(name, field.hasOperators === true ? printCondition(operator, given) : given);
    else if (key !== '' && !isFull) onAdd(name, printKeyed([...known, { key, operator, value: given }]));
  };
  return (
    <form
      className={styles['add']}
      aria-label="Add a filter"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) add(value);
      }}
    >
      <Choice
        label="Filter by"
        value={name}
        options={Object.fromEntries(Object.entries(fields).map(([each, { label }]) => [each, label]))}
        onChange={(next) => {
          setName(next);
          setKey('');
          setValue('');
          setOperator('=');
        }}
      />
      {isKeyed && (
        <SuggestField
          key={`key of ${name}`}
          isFirst
          label="Key"
          source={field.suggest}
          value={key}
          onText={setKey}
          onPick={setKey}
        />
      )}
      {field.hasOperators === true && (
        <Choice
          label="Comparison"
          value={operator}
          options={OPERATORS}
          onChange={(next) => {
            setOperator(next as Operator);
          }}
        />
      )}
      {field.kind === 'choice' ? (
        <Choice
          label={field.label}
          value={value}
          options={Object.fromEntries(
            ['', ...(field.choices ?? [])].map((each) => [each, each || 'Select…']),
          )}
          onChange={setValue}
        />
      ) : (
        <SuggestField
          key={name}
          isFirst={!isKeyed}
          isPicked={field.isPicked === true}
          label={isKeyed ? 'Value' : field.label}
          source={isKeyed ? (key === '' ? undefined : `${field.suggest ?? ''}.${key}`) : field.suggest}
          isNumber={field.kind === 'number'}
          isWrong={isWrong}
          hint={field.hint}
          value={value}
          onText={setValue}
          onPick={add}
        />
      )}
      {isFull && <small className={parts['bad']}>A list can have {MAX_KEYED} filters of this kind.</small>}
      <div className={styles['actions']}>
        <button type="submit" className={cx(parts['button'], parts['primary'])} disabled={!isReady}>
          Add
        </button>
        <button type="button" className={parts['button']} onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** A text field with suggestions below it. */
function SuggestField({
  label,
  source,
  isFirst,
  isPicked = false,
  isNumber = false,
  isWrong = false,
  hint,
  value,
  onText,
  onPick,
}: {
  readonly label: string;
  readonly source: string | undefined;
  /** Whether it gets the focus. */
  readonly isFirst: boolean;
  /** Whether Enter picks the first suggestion. */
  readonly isPicked?: boolean;
  readonly isNumber?: boolean;
  readonly isWrong?: boolean;
  readonly hint?: string | undefined;
  readonly value: string;
  readonly onText: (text: string) => void;
  /** Called with the value of a suggestion. */
  readonly onPick: (value: string) => void;
}) {
  const { found } = useSuggestions(source, value);
  const items = found.filter(({ value: each }) => each !== value);
  const box = useListbox(items.length, isPicked ? 0 : -1, (at) => {
    const picked = items[at];
    if (picked) onPick(picked.value);
  });
  return (
    <div>
      <label className={parts['label']}>
        {label}
        <input
          {...box.field}
          autoFocus={isFirst}
          className={parts['field']}
          aria-invalid={isWrong}
          inputMode={isNumber ? 'decimal' : 'text'}
          placeholder={hint}
          value={value}
          onChange={(event) => {
            onText(event.target.value);
            box.reset();
          }}
        />
      </label>
      <Suggestions label={`Values of ${label}`} items={items} box={box} />
    </div>
  );
}
