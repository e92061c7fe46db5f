import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import styles from './parts.module.css';

const SHOWN_MS = 1500;

/** Copies a text to the clipboard and confirms it in place. */
export function CopyButton({
  label,
  text,
}: {
  readonly label: string;
  readonly text: () => string | Promise<string>;
}) {
  const [state, setState] = useState<'idle' | 'done' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => {
      setState('idle');
    }, SHOWN_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [state]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(await text());
      setState('done');
    } catch {
      // The browser may deny access, or loading the text failed.
      setState('failed');
    }
  };
  const Icon = state === 'done' ? Check : Copy;
  return (
    <button type="button" className={styles['button']} onClick={() => void copy()}>
      <Icon size={14} aria-hidden="true" />
      <span aria-live="polite">{state === 'failed' ? 'Copy failed' : label}</span>
    </button>
  );
}
