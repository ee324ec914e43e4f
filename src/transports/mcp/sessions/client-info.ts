import {
  type InitializeRequest,
  type LoggingLevel,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import { supportsViews } from '../views/views-extension.ts';

/** What a session stores about its client; texts have a maximum length. */
export interface ClientInfo {
  name: string;
  version: string;
  /** Supported elicitation modes (MCP, Elicitation). */
  elicitation: ('form' | 'url')[];
  /** Minimum severity of log messages; without it the client gets none. */
  log_level?: LoggingLevel | undefined;
  /** Whether the request declares the Tasks extension. Only requests of revision 2026-07-28 can. */
  hasTasks?: boolean;
  /** Whether the request declares the Events extension, as clients of SEP-3415 do. */
  hasEvents?: boolean;
  /** Whether the client shows views. */
  has_views?: boolean;
}

/** Reads client information from an `initialize` request. A bare `elicitation: {}` means form mode. */
export function readClientInfo({ params }: InitializeRequest): ClientInfo {
  const { name, version } = params.clientInfo;
  const declared = params.capabilities.elicitation;
  const elicitation = elicitationModes({
    isDeclared: declared !== undefined,
    form: declared?.form !== undefined,
    url: declared?.url !== undefined,
  });
  const hasViews = supportsViews(params.capabilities);
  return {
    name: sanitizeText(name),
    version: sanitizeText(version),
    elicitation,
    ...(hasViews && { has_views: true }),
  };
}

/** The elicitation modes that a client declares; without a mode it supports forms (MCP, Elicitation: Capabilities). */
export function elicitationModes({
  isDeclared,
  form,
  url,
}: {
  isDeclared: boolean;
  form: boolean;
  url: boolean;
}): ClientInfo['elicitation'] {
  return [
    ...(isDeclared && (form || !url) ? ['form' as const] : []),
    ...(isDeclared && url ? ['url' as const] : []),
  ];
}

/** The protocol version that the SDK agrees on (MCP, Lifecycle: Version Negotiation). */
export function negotiateVersion({ params }: InitializeRequest): string {
  const [latest = ''] = SUPPORTED_PROTOCOL_VERSIONS;
  return SUPPORTED_PROTOCOL_VERSIONS.includes(params.protocolVersion) ? params.protocolVersion : latest;
}

/** Text that PostgreSQL can store, at most 200 characters. */
export function sanitizeText(text: string): string {
  return text.slice(0, 200).toWellFormed().replaceAll('\0', '');
}
