import { CircleCheck, CircleDashed, CircleX, TriangleAlert, type LucideIcon } from 'lucide-react';
import { cx } from '../../parts/cx.js';
import { Missing } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import type { Component } from './use-daemon.js';

type State = Component['state'];

const LOOKS: Readonly<
  Record<State, { readonly icon: LucideIcon; readonly words: string; readonly look: string }>
> = {
  ok: { icon: CircleCheck, words: 'Healthy', look: 'completed' },
  degraded: { icon: TriangleAlert, words: 'Degraded: works, but needs attention', look: 'alert' },
  recoverable: { icon: CircleX, words: 'Not working; retrying automatically', look: 'failed' },
  permanent: { icon: CircleX, words: 'Not working; needs action', look: 'failed' },
  fatal: { icon: CircleX, words: 'Fatal; the daemon stops', look: 'failed' },
  created: { icon: CircleDashed, words: 'Not started', look: 'faint' },
  starting: { icon: CircleDashed, words: 'Starting', look: 'faint' },
  stopping: { icon: CircleDashed, words: 'Stopping', look: 'faint' },
  stopped: { icon: CircleDashed, words: 'Stopped', look: 'faint' },
};

/** Whether a component needs attention. */
export function isTroubled(component: Component): boolean {
  return component.state === 'degraded' || isFailing(component);
}

/** Whether a component does not work. */
export function isFailing({ state }: Component): boolean {
  return LOOKS[state].look === 'failed';
}

/** The state of a component. */
function ComponentState({ state }: { readonly state: State }) {
  const { icon: Icon, words, look } = LOOKS[state];
  return (
    <span className={cx(parts['status'], look !== 'alert' && parts[look])}>
      <Icon size={14} aria-hidden="true" /> {words}
    </span>
  );
}

/** All components with their health, unhealthy ones first. */
export function Components({ components }: { readonly components: readonly Component[] }) {
  const sorted = components.toSorted((a, b) => Number(isTroubled(b)) - Number(isTroubled(a)));
  return (
    <div className={parts['stacking']}>
      <div className={parts['tableWrap']}>
        <table className={parts['table']} aria-label="Components">
          <thead>
            <tr>
              <th scope="col">Component</th>
              <th scope="col">Kind</th>
              <th scope="col">Pipeline</th>
              <th scope="col">State</th>
              <th scope="col">Error</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map(({ kind, id, pipeline, state, message }) => (
              <tr key={JSON.stringify([kind, id, pipeline])}>
                <td>{id}</td>
                <td>{kind}</td>
                <td data-label="Pipeline">
                  {pipeline ?? <Missing reason="Not part of a single pipeline" />}
                </td>
                <td>
                  <ComponentState state={state} />
                </td>
                <td className={parts['wide']} data-label="Error" title={message ?? undefined}>
                  {message ?? <Missing reason="No error" />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
