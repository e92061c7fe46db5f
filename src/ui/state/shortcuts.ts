import { useEffect, useRef, type RefObject } from 'react';

/** Actions by `event.key`; the prefix `Ctrl+` includes ⌘. */
export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** Keys in text fields are not shortcuts. */
function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  );
}

/**
 * Handles keys while mounted, unless another element handles them.
 *
 * @param within the element that must have the focus; other elements keep the keys
 */
export function useShortcuts(shortcuts: Shortcuts, within?: RefObject<HTMLElement | null>): void {
  const current = useRef(shortcuts);
  useEffect(() => {
    current.current = shortcuts;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.altKey || document.querySelector('[role="dialog"]')) return;
      if (within && !within.current?.contains(document.activeElement)) return;
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
  }, [within]);
}
