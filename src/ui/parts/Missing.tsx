import {
  createContext,
  use,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type RefObject,
} from 'react';
import styles from './parts.module.css';

/** Whether dashes are inside a button or link, which then handles taps. */
export const DashesInside = createContext(false);

/**
 * A dash for a missing value, with its reason on hover, tap and for screen readers. Not a tab stop, because
 * tables have dozens; keyboard users list the reasons with a key (`shell/WhyMissing.tsx`).
 */
export function Missing({ reason }: { readonly reason: string }) {
  const isInside = use(DashesInside);
  const [isOpen, setOpen] = useState(false);
  const dash = useRef<HTMLSpanElement>(null);
  const close = useCallback(() => {
    setOpen(false);
  }, []);
  const toggle = (): void => {
    setOpen(!isOpen);
  };
  return (
    <span className={styles['missing']} data-missing={reason}>
      <span
        ref={dash}
        aria-hidden="true"
        className={isInside ? undefined : styles['dash']}
        title={isOpen ? undefined : reason}
        onClick={isInside ? undefined : toggle}
      >
        –
      </span>
      <span className={styles['unseen']}>{reason}</span>
      {isOpen && <Reason of={dash} text={reason} onClose={close} />}
    </span>
  );
}

const GAP = 4;

/**
 * Floats over the page, so that nothing moves and no table clips it. Screen readers use the text next to the
 * dash instead.
 */
function Reason({
  of,
  text,
  onClose,
}: {
  readonly of: RefObject<HTMLElement | null>;
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
    const press = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      // Keep other open panels open.
      event.stopPropagation();
      onClose();
    };
    document.addEventListener('pointerdown', elsewhere);
    // The reason would not move with the dash.
    document.addEventListener('scroll', onClose, true);
    document.addEventListener('keydown', press, true);
    return () => {
      document.removeEventListener('pointerdown', elsewhere);
      document.removeEventListener('scroll', onClose, true);
      document.removeEventListener('keydown', press, true);
    };
  }, [of, onClose]);
  return (
    <span ref={box} popover="manual" className={styles['reason']} aria-hidden="true">
      {text}
    </span>
  );
}
