import type { EnteredCredentialKind } from '../../../../../packages/core/src/domain/remote.ts';
import { choicesField, type EnteredIn, type FieldDefinition, textField } from '../../define/fields.tsx';
import type { RemoteAgentRecord } from '../../../../../packages/core/src/records/remote-agent.ts';
import { Badge } from '../../components/content.tsx';

/** The path of the list of remote agents. */
export const remotePath = '/console/remote-agents';

/** Whether messages are sent to a remote agent. */
export function RemoteState({
  waiting_for,
  failing_since,
}: Pick<RemoteAgentRecord, 'waiting_for' | 'failing_since'>) {
  if (waiting_for === 'card') return <Badge tone="warning">Reading its card</Badge>;
  if (waiting_for === 'person') return <Badge tone="warning">Waiting for you</Badge>;
  return failing_since === null ? <Badge tone="good">Ready</Badge> : <Badge tone="danger">Failing</Badge>;
}

export const credentialChoices: readonly { value: EnteredCredentialKind; title: string; text: string }[] = [
  { value: 'none', title: 'None', text: 'The other service asks for no credential.' },
  { value: 'bearer', title: 'Token', text: 'A token that the other service has given you.' },
  {
    value: 'client_credentials',
    title: 'Client ID and secret',
    text: 'This service gets tokens with them (OAuth client credentials).',
  },
];

/** A secret that depends on the kind of the credential. It is never shown again. */
function optionalSecret(label: string, hint: string): FieldDefinition<string> {
  const field = textField(label, hint, {
    maxlength: 4_096,
    plain: true,
    type: 'password',
    autocomplete: 'off',
  });
  return { ...field, show: ({ name, errors }) => field.show({ name, value: undefined, errors }) };
}

/** How this service signs in at the other one. */
export const credentialFields = {
  kind: choicesField('Credential', credentialChoices),
  token: optionalSecret('Token', 'For a token only.'),
  client_id: textField('Client ID', 'For a client ID and secret only.', { maxlength: 4_096, plain: true }),
  client_secret: optionalSecret('Client secret', 'For a client ID and secret only.'),
  token_url: textField(
    'Token address',
    'For a client ID and secret. Empty: the address that the card names.',
    { maxlength: 2_048, plain: true },
  ),
};

/** The second part of the handle of a new agent. */
export const handleNameField = textField(
  'Name in the handle',
  'Empty: made from the host. It cannot be changed later.',
  { maxlength: 32, plain: true },
);

/** The fields of the operation have other names than those of the form. */
export const credentialAliases = Object.fromEntries(
  Object.keys(credentialFields).map((name) => [`credential.${name}`, name]),
);

/** The credential as the operations take it: empty fields are absent. */
export function toCredential(entered: EnteredIn<typeof credentialFields>) {
  const { kind, ...secrets } = entered;
  const entries = Object.entries(secrets).filter(([, value]) => value !== '');
  return { kind: kind || 'none', ...Object.fromEntries(entries) };
}
