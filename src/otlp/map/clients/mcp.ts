import type { Convention } from '../conventions/convention.js';

/** FastMCP and the Python SDK of MCP: client, transport and server report each call. Clients do not name their server. */
export const MCP: Convention = { stepScopes: ['fastmcp', 'mcp-python-sdk'] };
