import { Plus } from 'lucide-react';
import { useState, type ReactNode, type SyntheticEvent } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { ApiError } from '../api/client.js';
import { ConfirmButton } from './ConfirmButton.js';
import { cx } from './cx.js';
import styles from './form.module.css';
import parts from './parts.module.css';

/** The state of a mutation and its errors. */
export interface Change {
  readonly isBusy: boolean;
  readonly problem: string | undefined;
  /** By field name in the body. */
  readonly fields: Readonly<Record<string, string>>;
  readonly run: () => Promise<void>;
}

/**
 * Runs one mutation at a time and reloads what it changes.
 *
 * @param act throws what the API refuses
 * @param stale first parts of the query keys to reload
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
    // Also after a failure, which often has a concurrent change or an ended session as its cause.
    await Promise.all(stale.map((name) => client.invalidateQueries({ queryKey: [name] })));
  };
  const fields = error instanceof ApiError ? byName(error.fields) : {};
  const reason =
    error instanceof ApiError ? error.message : 'The daemon did not respond. It may be stopped or starting.';
  return { isBusy, fields, problem: error === undefined ? undefined : reason, run };
}

/** Errors such as `[{field: '/email', message}]` as sentences by outermost field name. */
function byName(errors: ApiError['fields']): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (const { field, message } of errors) {
    const [, name = ''] = field.split('/');
    fields[name] ??= `It ${message}.`;
  }
  return fields;
}

/** A form with its errors and submit button. */
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
          {Object.keys(change.fields).length > 0 ? 'Correct the marked fields.' : change.problem}
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

/** The error of a field. */
export function FieldProblem({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : <span className={styles['problem']}> {text}</span>;
}

/** A group of checkboxes with its error. */
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

/** A checkbox of {@link Checks}. @param about explains the name */
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

/** Adds or removes a value. */
export function toggled<Value>(values: readonly Value[], value: Value, isIn: boolean): readonly Value[] {
  return isIn ? [...values, value] : values.filter((each) => each !== value);
}

/** Opens a form above a list. */
export function NewButton({ label, onOpen }: { readonly label: string; readonly onOpen: () => void }) {
  return (
    <p className={styles['new']}>
      <button type="button" className={cx(parts['button'], parts['primary'])} onClick={onOpen}>
        <Plus size={16} aria-hidden="true" /> {label}
      </button>
    </p>
  );
}

/** A mutation behind a confirmation in place. */
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
  /** Object of the action, for screen readers. */
  readonly name: string;
  readonly act: () => Promise<void>;
  readonly stale: readonly string[];
  /** Further options shown with the question. */
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
