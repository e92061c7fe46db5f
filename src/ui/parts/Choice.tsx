import styles from './parts.module.css';

/** A labelled select. */
export function Choice({
  label,
  title,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly title?: string | undefined;
  readonly value: string;
  /** Option labels by value. */
  readonly options: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}) {
  return (
    <label className={styles['label']}>
      {label}
      <select
        className={styles['field']}
        title={title}
        value={value}
        onChange={(event) => {
          onChange(event.target.value);
        }}
      >
        {Object.entries(options).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
