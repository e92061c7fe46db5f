import {
  createContext,
  use,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type RefObject,
} from 'react';
import styles from './parts.module.css';

/**
 * What a dash may do where it stands. `stop`: Tab reaches it. `touch`: it can be tapped, but the keys are those of the grid
 * around it. `text`: it is part of a button or a link.
 */
export const Dashes = createContext<'stop' | 'touch' | 'text'>('stop');

/** A dash for a value that is not there, with the reason for whoever points at it, taps it, presses Enter on it or has it read. */
export function Missing({ reason }: { readonly reason: string }) {
  const mode = use(Dashes);
  const [isOpen, setOpen] = useState(false);
  const dash = useRef<HTMLButtonElement>(null);
  const told = (
    <>
      <span aria-hidden="true">–</span>
      <span className={styles['unseen']}>{reason}</span>
    </>
  );
  if (mode === 'text')
    return (
      <span className={styles['missing']} title={reason}>
        {told}
      </span>
    );
  const close = (): void => {
    setOpen(false);
  };
  const press = (event: KeyboardEvent): void => {
    // Of the keys that mean something to the page, too, those that it needs are its own.
    if (event.key === ' ' || event.key === 'Enter' || (event.key === 'Escape' && isOpen))
      event.stopPropagation();
    if (event.key === 'Escape') close();
  };
  return (
    <>
      <button
        ref={dash}
        type="button"
        className={styles['dash']}
        title={isOpen ? undefined : reason}
        tabIndex={mode === 'touch' ? -1 : undefined}
        onKeyDown={press}
        onBlur={close}
        onClick={() => {
          setOpen(!isOpen);
        }}
      >
        {told}
      </button>
      {isOpen && <Reason of={dash} text={reason} onClose={close} />}
    </>
  );
}

const GAP = 4;

/** Lies over the page, so that nothing moves and no table cuts it off; the dash is called by the same text, so that it is read once. */
function Reason({
  of,
  text,
  onClose,
}: {
  readonly of: RefObject<HTMLButtonElement | null>;
  readonly text: string;
  readonly onClose: () => void;
}) {
  const box = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const [shown, dash] = [box.current, of.current];
    if (!shown || !dash) return;
    shown.showPopover();
    const { left, top, bottom, width } = dash.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = shown;
    const x = left + width / 2 - offsetWidth / 2;
    const isBelow = bottom + GAP + offsetHeight < innerHeight;
    shown.style.left = `${String(Math.max(GAP, Math.min(x, document.documentElement.clientWidth - offsetWidth - GAP)))}px`;
    shown.style.top = `${String(isBelow ? bottom + GAP : top - GAP - offsetHeight)}px`;
  }, [of]);
  useEffect(() => {
    const elsewhere = (event: Event): void => {
      const at = event.target;
      if (at instanceof Node && (of.current?.contains(at) || box.current?.contains(at))) return;
      onClose();
    };
    // Not every browser gives a button the focus that is tapped, so that it cannot lose it.
    document.addEventListener('pointerdown', elsewhere);
    // It would stay where it is while the dash moves.
    document.addEventListener('scroll', onClose, true);
    return () => {
      document.removeEventListener('pointerdown', elsewhere);
      document.removeEventListener('scroll', onClose, true);
    };
  }, [of, onClose]);
  return (
    <span
      ref={box}
      popover="manual"
      className={styles['reason']}
      aria-hidden="true"
      // The dash keeps the focus.
      onMouseDown={(event) => {
        event.preventDefault();
      }}
    >
      {text}
    </span>
  );
}
