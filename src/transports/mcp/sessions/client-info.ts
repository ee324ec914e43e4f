import {
  type InitializeRequest,
  type LoggingLevel,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';

/** What is kept of a client's introduction: little, and nothing that it can blow up. */
export interface ClientInfo {
  name: string;
  version: string;
  /** Ways in which the client can ask its user (MCP, Elicitation). */
  elicitation: ('form' | 'url')[];
  /** The least severe messages that it wants; absent: none. */
  log_level?: LoggingLevel | undefined;
}

/** The facts in an `initialize` request. A bare `elicitation: {}` means form mode. */
export function readClientInfo({ params }: InitializeRequest): ClientInfo {
  const { name, version } = params.clientInfo;
  const asked = params.capabilities.elicitation;
  const elicitation: ClientInfo['elicitation'] = [];
  if (asked && (asked.form || !asked.url)) elicitation.push('form');
  if (asked?.url) elicitation.push('url');
  return { name: sanitizeText(name), version: sanitizeText(version), elicitation };
}

/** The revision that the SDK agrees on for this request (MCP, Lifecycle: Version Negotiation). */
export function negotiateVersion({ params }: InitializeRequest): string {
  const [latest = ''] = SUPPORTED_PROTOCOL_VERSIONS;
  return SUPPORTED_PROTOCOL_VERSIONS.includes(params.protocolVersion) ? params.protocolVersion : latest;
}

/** Text that PostgreSQL stores, of a harmless length. */
function sanitizeText(text: string): string {
  return text.slice(0, 200).toWellFormed().replaceAll('\0', '');
}
