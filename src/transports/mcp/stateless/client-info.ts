import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
} from '@modelcontextprotocol/server';
import { LoggingLevelSchema } from '@modelcontextprotocol/sdk/types.js';
import { eventsExtension } from '../../../../packages/core/src/domain/feed/event-dialects.ts';
import { readField } from '../protocol/required-scopes.ts';
import { tasksExtension } from '../tasks/task-methods.ts';
import { type ClientInfo, elicitationModes, sanitizeText } from '../sessions/client-info.ts';
import { supportsViews } from '../views/views-extension.ts';

/** Reads what a request says about its client in `_meta` (MCP, Base Protocol: `_meta`). */
export function readRequestClient(meta: unknown): ClientInfo {
  const info = readField(meta, CLIENT_INFO_META_KEY);
  const capabilities = readField(meta, CLIENT_CAPABILITIES_META_KEY);
  const extensions = readField(capabilities, 'extensions');
  const elicitation = readField(capabilities, 'elicitation');
  return {
    name: readText(info, 'name'),
    version: readText(info, 'version'),
    elicitation: elicitationModes({
      isDeclared: elicitation !== undefined,
      form: readField(elicitation, 'form') !== undefined,
      url: readField(elicitation, 'url') !== undefined,
    }),
    hasTasks: readField(extensions, tasksExtension) !== undefined,
    hasEvents: readField(extensions, eventsExtension) !== undefined,
    has_views: supportsViews(capabilities),
    log_level: LoggingLevelSchema.safeParse(readField(meta, LOG_LEVEL_META_KEY)).data,
  };
}

function readText(value: unknown, name: string): string {
  const text = readField(value, name);
  return typeof text === 'string' ? sanitizeText(text) : '';
}
