import { z } from 'zod';

/**
 * The answers of A2A 1.0.1 in ProtoJSON, written from `specification/a2a.proto` and sections 5, 9 and 11 of its text, not from the code that is
 * tested. Unknown fields are refused, required ones must be present, and a required array has an element.
 */

const text = z.string().min(1);
const struct = z.record(z.string(), z.json());
const texts = z.array(text);
const timestamp = z.iso.datetime();

/** Exactly one of these fields, as of a `oneof`. */
function oneOf(shape: z.ZodRawShape, others: z.ZodRawShape = {}) {
  const names = Object.keys(shape);
  const optional = Object.fromEntries(names.map((name) => [name, (shape[name] as z.ZodType).optional()]));
  return z
    .strictObject({ ...optional, ...others })
    .refine(
      (value) => names.filter((name) => (value as Record<string, unknown>)[name] !== undefined).length === 1,
      {
        message: `needs exactly one of ${names.join(', ')}`,
      },
    );
}

const part = oneOf(
  { text: z.string(), raw: z.base64(), url: z.url(), data: z.json() },
  { metadata: struct.optional(), filename: text.optional(), mediaType: text.optional() },
);

const message = z.strictObject({
  messageId: text,
  contextId: text.optional(),
  taskId: text.optional(),
  role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
  parts: z.array(part).min(1),
  metadata: struct.optional(),
  extensions: texts.optional(),
  referenceTaskIds: texts.optional(),
});

const taskStatus = z.strictObject({
  state: z.enum([
    'TASK_STATE_SUBMITTED',
    'TASK_STATE_WORKING',
    'TASK_STATE_COMPLETED',
    'TASK_STATE_FAILED',
    'TASK_STATE_CANCELED',
    'TASK_STATE_INPUT_REQUIRED',
    'TASK_STATE_REJECTED',
    'TASK_STATE_AUTH_REQUIRED',
  ]),
  message: message.optional(),
  timestamp: timestamp.optional(),
});

const artifact = z.strictObject({
  artifactId: text,
  name: text.optional(),
  description: text.optional(),
  parts: z.array(part).min(1),
  metadata: struct.optional(),
  extensions: texts.optional(),
});

const task = z.strictObject({
  id: text,
  contextId: text.optional(),
  status: taskStatus,
  artifacts: z.array(artifact).optional(),
  history: z.array(message).optional(),
  metadata: struct.optional(),
});

const update = { taskId: text, contextId: text, metadata: struct.optional() };
const statusUpdate = z.strictObject({ ...update, status: taskStatus });
const artifactUpdate = z.strictObject({
  ...update,
  artifact,
  append: z.boolean().optional(),
  lastChunk: z.boolean().optional(),
});

const taskPushNotificationConfig = z.strictObject({
  tenant: text.optional(),
  id: text.optional(),
  taskId: text.optional(),
  url: z.url(),
  token: text.optional(),
  authentication: z.strictObject({ scheme: text, credentials: text.optional() }).optional(),
});

const agentInterface = z.strictObject({
  url: z.url(),
  protocolBinding: text,
  tenant: text.optional(),
  protocolVersion: z.string().regex(/^\d+\.\d+$/),
});

const agentCapabilities = z.strictObject({
  streaming: z.boolean().optional(),
  pushNotifications: z.boolean().optional(),
  extensions: z
    .array(
      z.strictObject({
        uri: text.optional(),
        description: text.optional(),
        required: z.boolean().optional(),
        params: struct.optional(),
      }),
    )
    .optional(),
  extendedAgentCard: z.boolean().optional(),
});

const description = text.optional();
const scopes = z.record(z.string(), z.string());
const refreshUrl = z.url().optional();
const tokenFlow = { tokenUrl: z.url(), refreshUrl, scopes };

const securityScheme = oneOf({
  apiKeySecurityScheme: z.strictObject({
    description,
    location: z.enum(['query', 'header', 'cookie']),
    name: text,
  }),
  httpAuthSecurityScheme: z.strictObject({ description, scheme: text, bearerFormat: text.optional() }),
  oauth2SecurityScheme: z.strictObject({
    description,
    flows: oneOf({
      authorizationCode: z.strictObject({
        ...tokenFlow,
        authorizationUrl: z.url(),
        pkceRequired: z.boolean().optional(),
      }),
      clientCredentials: z.strictObject(tokenFlow),
      deviceCode: z.strictObject({ ...tokenFlow, deviceAuthorizationUrl: z.url() }),
    }),
    oauth2MetadataUrl: z.url().optional(),
  }),
  openIdConnectSecurityScheme: z.strictObject({ description, openIdConnectUrl: z.url() }),
  mtlsSecurityScheme: z.strictObject({ description }),
});

const securityRequirements = z
  .array(
    z.strictObject({ schemes: z.record(z.string(), z.strictObject({ list: texts.optional() })).optional() }),
  )
  .optional();

const agentCard = z.strictObject({
  name: text,
  description: text,
  supportedInterfaces: z.array(agentInterface).min(1),
  provider: z.strictObject({ url: z.url(), organization: text }).optional(),
  version: text,
  documentationUrl: z.url().optional(),
  capabilities: agentCapabilities,
  securitySchemes: z.record(z.string(), securityScheme).optional(),
  securityRequirements,
  defaultInputModes: texts.min(1),
  defaultOutputModes: texts.min(1),
  skills: z
    .array(
      z.strictObject({
        id: text,
        name: text,
        description: text,
        tags: texts.min(1),
        examples: texts.optional(),
        inputModes: texts.optional(),
        outputModes: texts.optional(),
        securityRequirements,
      }),
    )
    .min(1),
  signatures: z
    .array(z.strictObject({ protected: z.base64url(), signature: z.base64url(), header: struct.optional() }))
    .optional(),
  iconUrl: z.url().optional(),
});

const typeUrl = 'type.googleapis.com/google.rpc.';

/** ProtoJSON of `Any`: the types that A2A names are checked, others need only their name. */
const errorDetails = z
  .array(
    z.union([
      z.strictObject({
        '@type': z.literal(`${typeUrl}ErrorInfo`),
        reason: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
        domain: text,
        metadata: z.record(z.string(), z.string()).optional(),
      }),
      z.strictObject({
        '@type': z.literal(`${typeUrl}BadRequest`),
        fieldViolations: z.array(z.strictObject({ field: z.string(), description: text })).min(1),
      }),
      z.strictObject({
        '@type': z.literal(`${typeUrl}RetryInfo`),
        retryDelay: z.string().regex(/^\d+(\.\d+)?s$/),
      }),
    ]),
  )
  .min(1);

/** Every answer of an A2A operation, by the name of its message in `a2a.proto`, and the errors of both bindings. */
export const schemas = {
  AgentCard: agentCard,
  Task: task,
  SendMessageResponse: oneOf({ task, message }),
  StreamResponse: oneOf({ task, message, statusUpdate, artifactUpdate }),
  ListTasksResponse: z.strictObject({
    tasks: z.array(task),
    nextPageToken: z.string(),
    pageSize: z.int().min(1).max(100),
    totalSize: z.int().min(0),
  }),
  TaskPushNotificationConfig: taskPushNotificationConfig,
  ListTaskPushNotificationConfigsResponse: z.strictObject({
    configs: z.array(taskPushNotificationConfig).optional(),
    nextPageToken: z.string().optional(),
  }),
  Empty: z.strictObject({}),
  /** The body of an error of HTTP+JSON. */
  HttpError: z.strictObject({
    error: z.strictObject({
      code: z.int().min(400).max(599),
      status: z.string().regex(/^[A-Z_]+$/),
      message: text,
      details: errorDetails.optional(),
    }),
  }),
  /** The member `error` of a JSON-RPC response. */
  JsonRpcError: z.strictObject({
    code: z.int().min(-32_768).max(-32_000),
    message: text,
    data: errorDetails.optional(),
  }),
} satisfies Record<string, z.ZodType>;

export type A2aType = keyof typeof schemas;
