/**
 * The part of uWebSockets.js that the engine uses. Declared here because the package is optional: it is on GitHub and not in the
 * npm registry, and no build may depend on it.
 */
export interface UwsModule {
  App(): UwsApp;
  SSLApp(options: { readonly key_file_name: string; readonly cert_file_name: string }): UwsApp;
  /** The name in uWebSockets.js, followed by the name in the fork used for development. */
  readonly us_listen_socket_close?: (socket: UwsListenSocket) => void;
  readonly closeSocket?: (socket: UwsListenSocket) => void;
  readonly us_socket_local_port?: (socket: UwsListenSocket) => number;
  readonly getSocketPort?: (socket: UwsListenSocket) => number;
}

export type UwsListenSocket = object;

export interface UwsApp {
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp;
  listen(
    host: string,
    port: number,
    options: number,
    callback: (socket: UwsListenSocket | false) => void,
  ): UwsApp;
  listen(port: number, options: number, callback: (socket: UwsListenSocket | false) => void): UwsApp;
  /** Closes every socket. */
  close(): UwsApp;
}

/** Valid only during the call of the handler. */
export interface UwsRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  forEachHeader(callback: (name: string, value: string) => void): void;
}

/** Valid only until it is ended or aborted; every later call throws. */
export interface UwsResponse {
  onAborted(callback: () => void): UwsResponse;
  onData(callback: (piece: ArrayBuffer, isLast: boolean) => void): UwsResponse;
  onWritable(callback: (offset: number) => boolean): UwsResponse;
  cork(callback: () => void): UwsResponse;
  pause(): void;
  writeStatus(status: string): UwsResponse;
  writeHeader(name: string, value: string): UwsResponse;
  write(piece: Uint8Array): boolean;
  end(body?: string | Uint8Array, closeConnection?: boolean): UwsResponse;
  endWithoutBody(length?: number, closeConnection?: boolean): UwsResponse;
  /** @returns whether all given bytes were sent, and whether the response is complete */
  tryEnd(rest: Uint8Array, totalLength: number): [boolean, boolean];
  close(): UwsResponse;
  getRemoteAddressAsText(): ArrayBuffer;
}

/** The default `SO_REUSEPORT` would let a second process silently take half of the connections. */
export const EXCLUSIVE_PORT = 1;

/** @throws Error if the package is missing, or has no binary for this platform and version of Node */
export async function loadUws(): Promise<UwsModule> {
  const loaded: unknown = await import('uWebSockets.js');
  const module = (loaded as { readonly default?: unknown }).default ?? loaded;
  if (!isUws(module)) throw new Error('the package uWebSockets.js has unexpected exports');
  return module;
}

function isUws(module: unknown): module is UwsModule {
  return typeof module === 'object' && module !== null && 'App' in module && 'SSLApp' in module;
}
