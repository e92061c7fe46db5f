import { useEffect, useState, type ComponentType, type ReactNode } from 'react';

/** A module with one component. */
interface Loaded<Props> {
  readonly default: ComponentType<Props>;
}

/** Loads such a module. */
export type Load<Props> = () => Promise<Loaded<Props>>;

/**
 * A component whose code is loaded when it is first shown. In place of `lazy`: React holds back what follows a fallback of `Suspense` until that
 * has been seen for 300 ms, which is longer than all else that opening a page takes. A failure is thrown to the boundary above, and the next
 * try loads again.
 *
 * @param waiting what is shown until then
 */
export function onDemand<Props extends object>(load: Load<Props>, waiting: ReactNode): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function OnDemand(props: Props) {
    const [Shown, show] = useState(() => loaded);
    const [failure, fail] = useState<{ readonly error: unknown } | null>(null);
    useEffect(() => {
      if (Shown !== null) return undefined;
      let isGone = false;
      load().then(
        ({ default: component }) => {
          loaded = component;
          if (!isGone) show(() => component);
        },
        (error: unknown) => {
          if (!isGone) fail({ error });
        },
      );
      return () => {
        isGone = true;
      };
    }, [Shown]);
    if (failure !== null) throw failure.error;
    return Shown === null ? waiting : <Shown {...props} />;
  };
}
