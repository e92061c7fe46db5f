import { CopyButton } from './CopyButton.js';
import parts from './parts.module.css';
import styles from './ShownOnce.module.css';

/** A secret that is shown once. */
export function ShownOnce({
  label,
  title,
  text,
  onDone,
}: {
  /** Accessible name. */
  readonly label: string;
  readonly title: string;
  readonly text: string;
  readonly onDone: () => void;
}) {
  return (
    <section className={styles['secret']} aria-label={label}>
      <h2>{title}</h2>
      <p>Save it now: it is not shown again.</p>
      <code>{text}</code>
      <div className={styles['buttons']}>
        <CopyButton label="Copy" text={() => text} />
        <button type="button" className={parts['button']} onClick={onDone}>
          I’ve saved it
        </button>
      </div>
    </section>
  );
}
