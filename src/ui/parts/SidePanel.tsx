import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useShortcuts } from '../state/shortcuts.js';
import { cx } from './cx.js';
import parts from './parts.module.css';

/** A preview panel next to a list; Escape closes it. @param label accessible name */
export function SidePanel({
  label,
  title,
  className,
  onClose,
  children,
}: {
  readonly label: string;
  readonly title: ReactNode;
  readonly className?: string | undefined;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  useShortcuts({ Escape: onClose });
  return (
    <aside className={cx(parts['peek'], className)} aria-label={label}>
      <div className={parts['peekHead']}>
        <h2>{title}</h2>
        <button
          type="button"
          className={cx(parts['button'], parts['iconButton'])}
          aria-label="Close"
          onClick={onClose}
        >
          <X size={16} aria-hidden="true" />
        </button>
      </div>
      {children}
    </aside>
  );
}
