import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import type { LucideIcon } from 'lucide-react';
import { cx } from './cx.js';
import styles from './parts.module.css';

/** A button that opens a panel. Escape, a click elsewhere and the focus elsewhere close it. */
export function Popover({
  icon: Icon,
  label,
  children,
}: {
  readonly icon: LucideIcon;
  readonly label: string;
  /** @param close closes the panel */
  readonly children: (close: () => void) => ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  /** In the left half of the window, the panel begins at the left edge of the button; otherwise it ends at the right one. */
  const [isLeft, setLeft] = useState(false);
  const id = useId();
  const room = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const press = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      // Keep other open panels open.
      event.preventDefault();
      setOpen(false);
      button.current?.focus();
    };
    const leave = ({ target }: Event): void => {
      if (target instanceof Node && target.isConnected && !room.current?.contains(target)) setOpen(false);
    };
    document.addEventListener('keydown', press, true);
    document.addEventListener('pointerdown', leave);
    document.addEventListener('focusin', leave);
    return () => {
      document.removeEventListener('keydown', press, true);
      document.removeEventListener('pointerdown', leave);
      document.removeEventListener('focusin', leave);
    };
  }, [isOpen]);
  return (
    <div ref={room} className={cx(styles['popover'], isLeft && styles['leftPopover'])}>
      <button
        ref={button}
        type="button"
        className={styles['button']}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={({ currentTarget }) => {
          setLeft(currentTarget.getBoundingClientRect().left < innerWidth / 2);
          setOpen(!isOpen);
        }}
      >
        <Icon size={16} aria-hidden="true" /> {label}
      </button>
      {isOpen && (
        <div id={id} role="group" aria-label={label}>
          {children(() => {
            setOpen(false);
            button.current?.focus();
          })}
        </div>
      )}
    </div>
  );
}
