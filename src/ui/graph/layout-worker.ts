import { placesOf, type LinkedNodes, type Place, type Shape } from './layout.js';

/** Input of `placesOf`. */
export interface LayoutTask {
  readonly graph: LinkedNodes;
  readonly aspect: number;
  readonly shape: Shape;
}

export type LayoutAnswer = ReadonlyMap<string, Place>;

// In a worker, because hundreds of nodes take seconds.
addEventListener('message', ({ data: { graph, aspect, shape } }: MessageEvent<LayoutTask>) => {
  postMessage(placesOf(graph, aspect, shape) satisfies LayoutAnswer);
});
