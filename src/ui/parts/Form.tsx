import { useState, type ReactNode, type SyntheticEvent } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { ApiError } from '../api/client.js';
import { ConfirmButton } from './ConfirmButton.js';
import { cx } from './cx.js';
import styles from './form.module.css';
import parts from './parts.module.css';

/** A change that somebody asks for: whether it is under way, and what was wrong with it. */
export interface Change {
  readonly isBusy: boolean;
  readonly problem: string | undefined;
  /** By the names of the fields in the body. */
  readonly fields: Readonly<Record<string, string>>;
  readonly run: () => Promise<void>;
}

/**
 * Makes a change once at a time, and asks again for what it changes.
 *
 * @param act throws what the API refuses
 * @param stale the first part of the keys of the queries that it changes
 */
export function useChange(act: () => Promise<void>, stale: readonly string[]): Change {
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async (): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      await act();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
    // Whether it was done or not: a change that failed often tells of another one. It also finds out that a session is over.
    await Promise.all(stale.map((name) => client.invalidateQueries({ queryKey: [name] })));
  };
  const fields = error instanceof ApiError ? byName(error.fields) : {};
  const told =
    error instanceof ApiError ? error.message : 'The daemon did not respond. It may be stopped or starting.';
  return { isBusy, fields, problem: error === undefined ? undefined : told, run };
}

/** `[{field: '/email', message}]` as sentences by name; of what lies deeper, the outermost name. */
function byName(errors: ApiError['fields']): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (const { field, message } of errors) {
    const [, name = ''] = field.split('/');
    fields[name] ??= `It ${message}.`;
  }
  return fields;
}

/** Fields, what is wrong with the whole, and the button that sends them. */
export function Form({
  label,
  action,
  change,
  isReady = true,
  onCancel,
  children,
}: {
  readonly label: string;
  readonly action: string;
  readonly change: Change;
  readonly isReady?: boolean;
  readonly onCancel?: () => void;
  readonly children: ReactNode;
}) {
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (isReady) void change.run();
  };
  return (
    <form className={styles['form']} aria-label={label} onSubmit={submit} noValidate>
      {children}
      {change.problem !== undefined && (
        <p role="alert" className={styles['problem']}>
          {change.problem}
        </p>
      )}
      <div className={styles['actions']}>
        <button
          type="submit"
          className={cx(parts['button'], parts['primary'])}
          disabled={change.isBusy || !isReady}
        >
          {action}
        </button>
        {onCancel && (
          <button type="button" className={parts['button']} onClick={onCancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}

/** What is wrong with a field, in its place. */
export function FieldProblem({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : <span className={styles['problem']}> {text}</span>;
}

/** What is ticked, each in its `label`, with what is wrong with it. */
export function Checks({
  legend,
  problem,
  children,
}: {
  readonly legend: string;
  readonly problem: string | undefined;
  readonly children: ReactNode;
}) {
  return (
    <fieldset className={styles['checks']}>
      <legend>{legend}</legend>
      {children}
      <FieldProblem text={problem} />
    </fieldset>
  );
}

/** One thing to tick among {@link Checks}. @param about what it is, where its name does not say it */
export function Check({
  name,
  about,
  checked,
  onChange,
}: {
  readonly name: string;
  readonly about: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}) {
  return (
    <label>
      <input
        type="checkbox"
        checked={checked}
        onChange={({ target }) => {
          onChange(target.checked);
        }}
      />
      <span>
        {name} <small className={parts['faint']}>{about}</small>
      </span>
    </label>
  );
}

/** A list with one more or one less. */
export function toggled<Value>(values: readonly Value[], value: Value, isIn: boolean): readonly Value[] {
  return isIn ? [...values, value] : values.filter((each) => each !== value);
}

/** Does what cannot be undone, after asking in its own place. */
export function ConfirmedChange({
  action,
  question,
  name,
  act,
  stale,
  children,
}: {
  readonly action: string;
  readonly question: string;
  /** Of what it is done to, for who has it read. */
  readonly name: string;
  readonly act: () => Promise<void>;
  readonly stale: readonly string[];
  /** What else is to be decided, behind the question. */
  readonly children?: ReactNode;
}) {
  const change = useChange(act, stale);
  return (
    <span className={styles['actions']}>
      {change.problem !== undefined && (
        <span role="alert" className={styles['problem']}>
          {change.problem}
        </span>
      )}
      <ConfirmButton
        label={action}
        name={name}
        question={question}
        confirm={action}
        isBusy={change.isBusy}
        onConfirm={() => void change.run()}
      >
        {children}
      </ConfirmButton>
    </span>
  );
}
