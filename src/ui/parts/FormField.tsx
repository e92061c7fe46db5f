import { useId, type ComponentProps } from 'react';
import styles from './parts.module.css';

interface Base {
  readonly label: string;
  readonly hint?: string | undefined;
  /** The daemon's error for the value. */
  readonly problem?: string | undefined;
}

/** An input with label, hint and error. */
export function TextField({
  label,
  hint,
  problem,
  onText,
  options,
  ...input
}: Base &
  Omit<ComponentProps<'input'>, 'onChange' | 'list'> & {
    readonly onText: (text: string) => void;
    /** Suggested values. */
    readonly options?: readonly string[] | undefined;
  }) {
  const id = useId();
  return (
    <div className={styles['fieldRow']}>
      <label htmlFor={id}>{label}</label>
      <input
        autoComplete="off"
        spellCheck={false}
        {...input}
        id={id}
        className={styles['field']}
        list={options ? `${id}-list` : undefined}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-hint`}
        onChange={(event) => {
          onText(event.target.value);
        }}
      />
      {options && (
        <datalist id={`${id}-list`}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
      <small id={`${id}-hint`} className={problem === undefined ? undefined : styles['bad']}>
        {problem ?? hint}
      </small>
    </div>
  );
}

/** A labelled select with hint and error. */
export function SelectField({
  label,
  hint,
  problem,
  value,
  options,
  onText,
}: Base & {
  readonly value: string;
  /** Option labels by value. */
  readonly options: Readonly<Record<string, string>>;
  readonly onText: (text: string) => void;
}) {
  const id = useId();
  return (
    <div className={styles['fieldRow']}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className={styles['field']}
        value={value}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-hint`}
        onChange={(event) => {
          onText(event.target.value);
        }}
      >
        {Object.entries(options).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
      <small id={`${id}-hint`} className={problem === undefined ? undefined : styles['bad']}>
        {problem ?? hint}
      </small>
    </div>
  );
}

/** The error of an action. @param error one that belongs to no field */
export function ActionProblem({ error }: { readonly error: Error | null }) {
  return error === null ? null : (
    <p role="alert" className={styles['bad']}>
      {error.message}
    </p>
  );
}
