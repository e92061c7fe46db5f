import { useEffect, useRef } from 'react';

/** What keys do, by `event.key`; `Ctrl+` before it stands for ⌘, too. */
export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** Where keys write, they do nothing else. */
function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  );
}

/** Listens on the page for keys that nobody else takes, while the component is there. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts);
  useEffect(() => {
    current.current = shortcuts;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.altKey || document.querySelector('[role="dialog"]')) return;
      const hasModifier = event.ctrlKey || event.metaKey;
      if (!hasModifier && isWriting(event.target)) return;
      const act = current.current[hasModifier ? `Ctrl+${event.key.toLowerCase()}` : event.key];
      if (!act) return;
      event.preventDefault();
      act(event);
    };
    document.addEventListener('keydown', press);
    return () => {
      document.removeEventListener('keydown', press);
    };
  }, []);
}
