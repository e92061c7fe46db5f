import { useEffect, useId, useState, type KeyboardEvent } from 'react';

/**
 * Keyboard selection in a listbox below a text field: arrows move, Enter picks, Escape closes.
 *
 * @param count of options
 * @param first index selected at first; -1 for none, so that Enter keeps its meaning
 * @param onPick called with an index
 * @param onClose called on Escape; absent if the panel around the list closes with it
 * @returns attributes of the text field, of the list and of an option
 */
export function useListbox(count: number, first: 0 | -1, onPick: (at: number) => void, onClose?: () => void) {
  const id = useId();
  /** Undefined until an arrow moves the selection. */
  const [at, setAt] = useState<number>();
  const selected = Math.min(at ?? first, count - 1);
  useEffect(() => {
    if (selected > 0)
      document.getElementById(`${id}-${String(selected)}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, selected]);
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(selected + 1, count - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(selected - 1, first));
    else if (event.key === 'Enter' && selected >= 0) onPick(selected);
    else if (event.key === 'Escape' && onClose) onClose();
    else return;
    event.preventDefault();
  };
  return {
    /** Selects the first option, after the options changed. */
    reset: () => {
      setAt(undefined);
    },
    field: {
      role: 'combobox',
      'aria-autocomplete': 'list',
      'aria-expanded': count > 0,
      'aria-controls': `${id}-list`,
      'aria-activedescendant': selected >= 0 ? `${id}-${String(selected)}` : undefined,
      autoComplete: 'off',
      onKeyDown: press,
    } as const,
    list: { id: `${id}-list`, role: 'listbox' } as const,
    option: (index: number) =>
      ({
        id: `${id}-${String(index)}`,
        role: 'option',
        'aria-selected': index === selected,
        onClick: () => {
          onPick(index);
        },
      }) as const,
  };
}
