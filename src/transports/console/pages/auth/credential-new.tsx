import { z } from 'zod';
import {
  isScopePreset,
  scopePresets,
  scopes as allScopes,
} from '../../../../../packages/core/src/domain/auth/scopes.ts';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { toOneLine } from '../../../../../packages/core/src/domain/visible-text.ts';
import { parseInput } from '../../../../../packages/core/src/inputs/parse-input.ts';
import { createCredential } from '../../../../services/auth/credentials.ts';
import { CopyText, secretPage } from '../../components/secrets.tsx';
import { textField } from '../../define/fields.tsx';
import { formSection } from '../../define/form.tsx';
import type { Redirect } from '../../route.ts';
import { agentPage } from '../agents/agent-page.tsx';
import { AgentHeading } from '../agents/heading.tsx';
import { scopeField } from './scope-choices.tsx';

const inputSchema = z.strictObject({
  name: z
    .string()
    .overwrite(toOneLine)
    .min(1, 'must have at least 1 character')
    .max(60, 'must have at most 60 characters'),
  scopes: z.array(z.enum(allScopes)).min(1, 'Choose at least one.').max(allScopes.length),
});

const sentBeforeMessage =
  'This form was already submitted and its secret was shown. If you do not have the secret, revoke that credential and create a new one.';

/** Creates a credential. Only the response to the form shows the secret. */
export const credentialNewPage = agentPage({
  path: 'credentials/new',
  tab: 'credentials',
  title: 'New credential',
  sections: [
    formSection({
      title: 'New credential',
      text: 'A credential lets a server act as this agent without a person. Interactive apps sign in through the browser and need no credential.',
      fields: ({ address }) => ({
        name: textField(
          'Name',
          'The program that uses the credential, so that you can find and revoke it later.',
          { maxlength: 60, required: true },
        ),
        scopes: scopeField((preset) => `${address}?preset=${preset}`),
      }),
      values({ query }) {
        const preset = query.get('preset') ?? '';
        return { scopes: scopePresets[isScopePreset(preset) ? preset : 'agent'] };
      },
      button: 'Create credential',
      cancel: ({ agentPath }) => agentPath('credentials'),
      once: true,
      submit({ agent, agentPath, change, parts }, entered, { key: once }) {
        const input = parseInput(inputSchema, entered);
        return orSentBefore(agentPath('credentials'), sentBeforeMessage, async () => {
          const handle = agent.canonical_handle;
          const { client_id, client_secret } = await change(createCredential, { handle, ...input, once });
          const command = [
            `curl ${parts.settings.public_url}/token`,
            `-u '${client_id}:${client_secret}'`,
            '-d grant_type=client_credentials',
          ];
          return secretPage({
            heading: <AgentHeading agent={agent} current={agentPath('credentials')} />,
            title: input.name,
            secrets: clientSecrets(client_id, client_secret),
            text: (
              <>
                <h3>Try it</h3>
                <p>
                  This command requests an access token for the whole service, valid for 15 minutes. It
                  contains the secret.
                </p>
                <CopyText label="Token request" text={command.join(' \\\n  ')} />
              </>
            ),
            next: agentPath('credentials'),
          });
        });
      },
    }),
  ],
});

/** What a program needs to sign in. */
export function clientSecrets(client_id: string, client_secret: string) {
  return [
    { label: 'Client ID', value: client_id },
    { label: 'Client secret', value: client_secret },
  ];
}

/** A form that was sent before leads to `to` with a warning. */
export async function orSentBefore<T>(
  to: string,
  warning: string | undefined,
  run: () => Promise<T>,
): Promise<T | Redirect> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'INVALID_TRANSITION') throw error;
    return { to, flash: { tone: 'warning', text: warning ?? error.message } };
  }
}
