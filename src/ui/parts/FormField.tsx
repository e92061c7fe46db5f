import { useId, type ComponentProps } from 'react';
import styles from './parts.module.css';

interface Base {
  readonly label: string;
  readonly hint?: string | undefined;
  /** What the daemon says against what stands in it. */
  readonly problem?: string | undefined;
}

/** Where a text or a number is put in, with its label, what it means and what is wrong with it. */
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
    /** What may be meant. */
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

/** One of some values. */
export function SelectField({
  label,
  hint,
  problem,
  value,
  options,
  onText,
}: Base & {
  readonly value: string;
  /** What each value is called. */
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

/** What went wrong with an action, beside it. @param error of which nothing stands beside a field */
export function ActionProblem({ error }: { readonly error: Error | null }) {
  return error === null ? null : (
    <p role="alert" className={styles['bad']}>
      {error.message}
    </p>
  );
}
