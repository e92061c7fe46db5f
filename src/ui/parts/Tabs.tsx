import { useId, useRef, type KeyboardEvent, type ReactNode } from 'react';
import styles from './parts.module.css';

/** Tabs and the panel of the selected one; arrow keys select, too. */
export function Tabs({
  label,
  names,
  selected,
  onSelect,
  children,
}: {
  readonly label: string;
  readonly names: readonly string[];
  readonly selected: string;
  readonly onSelect: (name: string) => void;
  /** The panel. */
  readonly children: ReactNode;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const press = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = (names.indexOf(selected) + by + names.length) % names.length;
    onSelect(names[at] ?? selected);
    list.current?.querySelectorAll('button')[at]?.focus();
  };
  return (
    <div>
      <div ref={list} role="tablist" aria-label={label} className={styles['tabs']} onKeyDown={press}>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === selected}
            aria-controls={`${id}-panel`}
            tabIndex={name === selected ? 0 : -1}
            onClick={() => {
              onSelect(name);
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${selected}`}>
        {children}
      </div>
    </div>
  );
}
