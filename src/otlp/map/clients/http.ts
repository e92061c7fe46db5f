import type { Convention } from '../conventions/convention.js';

/** OpenTelemetry's conventions of HTTP and RPC, with their names before v1.23. */
export const HTTP: Convention = {
  fields: {
    is_http: { 'http.request.method': { rank: 1 }, 'http.method': { rank: 1 } },
    peer: { 'service.peer.name': { rank: 1 }, 'peer.service': { rank: 2 } },
    server_address: { 'server.address': { rank: 1 }, 'net.peer.name': { rank: 2 } },
    is_rpc: { 'rpc.system': { rank: 1 }, 'rpc.system.name': { rank: 1 } },
    http_method: { 'http.request.method': { rank: 1 }, 'http.method': { rank: 2 } },
    url: {
      'url.full': { rank: 1 },
      'http.url': { rank: 2 },
      'url.path': { rank: 3 },
      'http.target': { rank: 4 },
    },
    http_status: { 'http.response.status_code': { rank: 1 }, 'http.status_code': { rank: 2 } },
    rpc_system: { 'rpc.system.name': { rank: 1 }, 'rpc.system': { rank: 2 } },
    rpc_service: { 'rpc.service': { rank: 1 } },
    rpc_method: { 'rpc.method': { rank: 1 } },
    rpc_status: { 'rpc.response.status_code': { rank: 1 }, 'rpc.grpc.status_code': { rank: 2 } },
  },
};
