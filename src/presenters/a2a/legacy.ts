import type { A2aCard } from './card-schema.ts';

/**
 * Translates requests and results between A2A 1.0 and 0.3, which most clients still speak (A2A 0.3, sections 6 and 7). An invalid field stays as
 * it is, so that the error names it.
 */

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The methods of 0.3, with their methods of 1.0. */
export const legacyMethods: Readonly<Record<string, string>> = {
  'message/send': 'SendMessage',
  'message/stream': 'SendStreamingMessage',
  'tasks/get': 'GetTask',
  'tasks/cancel': 'CancelTask',
  'tasks/resubscribe': 'SubscribeToTask',
  'tasks/pushNotificationConfig/set': 'CreateTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/get': 'GetTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/list': 'ListTaskPushNotificationConfigs',
  'tasks/pushNotificationConfig/delete': 'DeleteTaskPushNotificationConfig',
  'agent/getAuthenticatedExtendedCard': 'GetExtendedAgentCard',
};

/** Converts the parameters of a method from 0.3 to 1.0. */
export function fromLegacyParams(method: string, params: Json): Json {
  if (method === 'SendMessage' || method === 'SendStreamingMessage') {
    const { message, configuration, metadata } = params;
    return {
      message: isObject(message) ? fromMessage(message) : message,
      ...(isObject(configuration) && { configuration: fromConfiguration(configuration) }),
      ...(metadata !== undefined && { metadata }),
    };
  }
  if (method === 'CreateTaskPushNotificationConfig') {
    const { taskId, pushNotificationConfig: config } = params;
    return { ...(isObject(config) && fromPushConfig(config)), taskId };
  }
  if (method.includes('PushNotificationConfig')) {
    const { id: taskId, pushNotificationConfigId: id } = params;
    // 0.3 requires it for the deletion only.
    return { taskId, id: method.startsWith('Get') ? (id ?? taskId) : id };
  }
  return params;
}

const roles: ReadonlyMap<string, string> = new Map([
  ['user', 'ROLE_USER'],
  ['agent', 'ROLE_AGENT'],
]);

function fromMessage({ kind: _kind, role, parts, ...message }: Json): Json {
  return {
    ...message,
    role: (typeof role === 'string' && roles.get(role)) || role,
    parts: Array.isArray(parts)
      ? parts.map((part: unknown) => (isObject(part) ? fromPart(part) : part))
      : parts,
  };
}

function fromPart({ kind, text, file, data, metadata }: Json): Json {
  const about = metadata === undefined ? {} : { metadata };
  if (kind === 'text') return { text, ...about };
  if (kind === 'data') return { data, ...about };
  const { bytes: raw, uri: url, name: filename, mimeType: mediaType } = isObject(file) ? file : {};
  return { raw, url, filename, mediaType, ...about };
}

/** Without `blocking`, a client of 0.3 waits for the answer. */
function fromConfiguration({ blocking, pushNotificationConfig: config, ...configuration }: Json): Json {
  return {
    ...configuration,
    returnImmediately: blocking === false,
    ...(isObject(config) && { taskPushNotificationConfig: fromPushConfig(config) }),
  };
}

function fromPushConfig({ authentication, ...config }: Json): Json {
  if (!isObject(authentication)) return config;
  const { schemes, credentials } = authentication;
  const [scheme] = Array.isArray(schemes) ? (schemes as unknown[]) : [];
  return { ...config, authentication: { scheme, credentials } };
}

/** The words of 1.0 in errors, with those of 0.3. */
const legacyWords: readonly (readonly [current: RegExp, legacy: string])[] = [
  [/\bROLE_USER\b/g, 'user'],
  [/\bGetTask\b/g, 'tasks/get'],
  [/exactly one of text, raw, url and data/g, 'the kind text, file or data, and its content'],
  [/\braw or url part/g, 'file part'],
  [/\braw part(s?)/g, 'file part$1 with bytes'],
  [/\burl part(s?)/g, 'file part$1 with a uri'],
  [/\breturnImmediately to true/g, 'blocking to false'],
  [/ as a file in a file part/g, ' as a file part'],
  [/(parts(?:\.\d+|\[\d+\]))\.raw\b/g, '$1.file.bytes'],
  [/(parts(?:\.\d+|\[\d+\]))\.url\b/g, '$1.file.uri'],
  [/(parts(?:\.\d+|\[\d+\]))\.mediaType\b/g, '$1.file.mimeType'],
  [/\btaskPushNotificationConfig\b/g, 'pushNotificationConfig'],
];

/** Converts the text or the field of an error from 1.0 to 0.3. */
export const toLegacyText = (text: string): string =>
  legacyWords.reduce((result, [current, legacy]) => result.replaceAll(current, legacy), text);

/** Converts the result of a method from 1.0 to 0.3. */
export function toLegacyResult(method: string, result: Json): unknown {
  if (method === 'SendMessage') {
    const { task, message } = result;
    return isObject(message) ? toMessage(message) : toLegacyTask(task as Json);
  }
  if (method === 'GetTask' || method === 'CancelTask') return toLegacyTask(result);
  if (method === 'DeleteTaskPushNotificationConfig') return null;
  if (method === 'ListTaskPushNotificationConfigs') return listOf(result['configs']).map(toPushConfig);
  if (method.includes('PushNotificationConfig')) return toPushConfig(result);
  return method === 'GetExtendedAgentCard' ? toLegacyCard(result as A2aCard) : result;
}

/** Converts an event of a stream from 1.0 to 0.3. @param isLast whether the stream ends after it. */
export function toLegacyEvent(event: Json, isLast: boolean): Json {
  const { task, statusUpdate, artifactUpdate } = event;
  if (isObject(task)) return toLegacyTask(task);
  if (isObject(statusUpdate)) {
    const status = toStatus(statusUpdate['status'] as Json);
    return { kind: 'status-update', ...statusUpdate, status, final: isLast };
  }
  const update = artifactUpdate as Json;
  return { kind: 'artifact-update', ...update, artifact: toArtifact(update['artifact'] as Json) };
}

/** Converts a task from 1.0 to 0.3. */
export function toLegacyTask({ status, artifacts, history, ...task }: Json): Json {
  return {
    kind: 'task',
    ...task,
    status: toStatus(status as Json),
    ...(artifacts !== undefined && { artifacts: listOf(artifacts).map(toArtifact) }),
    ...(history !== undefined && { history: listOf(history).map(toMessage) }),
  };
}

function toStatus({ state, message, ...status }: Json): Json {
  return {
    state: String(state).replace('TASK_STATE_', '').toLowerCase().replace('_', '-'),
    ...(isObject(message) && { message: toMessage(message) }),
    ...status,
  };
}

function toMessage({ role, parts, ...message }: Json): Json {
  return {
    kind: 'message',
    ...message,
    role: role === 'ROLE_USER' ? 'user' : 'agent',
    parts: listOf(parts).map(toPart),
  };
}

const toArtifact = ({ parts, ...artifact }: Json): Json => ({
  ...artifact,
  parts: listOf(parts).map(toPart),
});

/** In 0.3, `data` is an object. */
function toPart({ text, url, data, filename, mediaType, metadata }: Json): Json {
  const about = metadata === undefined ? {} : { metadata };
  if (text !== undefined) return { kind: 'text', text, ...about };
  if (url === undefined) return { kind: 'data', data: isObject(data) ? data : { value: data }, ...about };
  const file = {
    uri: url,
    ...(filename !== undefined && { name: filename }),
    ...(mediaType !== undefined && { mimeType: mediaType }),
  };
  return { kind: 'file', file, ...about };
}

function toPushConfig({ taskId, authentication, ...config }: Json): Json {
  const { scheme } = isObject(authentication) ? authentication : {};
  const schemes = scheme === undefined ? {} : { authentication: { schemes: [scheme] } };
  return { taskId, pushNotificationConfig: { ...config, ...schemes } };
}

/** Converts a card from 1.0 to 0.3 (A2A 0.3, section 5.5). It is not signed. */
export function toLegacyCard(card: A2aCard): object {
  const {
    supportedInterfaces,
    capabilities,
    securitySchemes,
    securityRequirements,
    signatures: _signatures,
    ...about
  } = card;
  const { extendedAgentCard, ...shared } = capabilities;
  const { url } = supportedInterfaces.find(({ protocolVersion }) => protocolVersion === legacyVersion) ?? {};
  return {
    ...about,
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    capabilities: shared,
    supportsAuthenticatedExtendedCard: extendedAgentCard,
    securitySchemes: Object.fromEntries(
      Object.entries(securitySchemes).map(([name, { oauth2SecurityScheme }]) => [
        name,
        { type: 'oauth2', ...oauth2SecurityScheme },
      ]),
    ),
    security: securityRequirements.map(({ schemes }) =>
      Object.fromEntries(Object.entries(schemes).map(([name, { list }]) => [name, list])),
    ),
  };
}

/** The version that the addresses of 0.3 serve. */
export const legacyVersion = '0.3';
