import { addressKey } from '../../../http/address-key.ts';
import {
  beginExternalSignIn,
  disconnectIdentity,
  listIdentities,
} from '../../../../services/people/external-identities.ts';
import { successFlash } from '../../flash.ts';
import { hostOf } from '../../hosts.ts';
import { Card, Facts, Heading, Notice } from '../../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { Time } from '../../components/time.tsx';
import type { PageParts } from '../../parts.ts';
import { orShowFormAgain } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';
import { externalFailurePage } from './external-failure.tsx';
import { setExternalCookie } from './external-sign-in.tsx';

const path = '/console/account/external';

/** Connects an account with the OpenID Connect provider for sign-in. No routes without a provider. */
export function externalAccountRoutes({ services, limits, external }: PageParts): ConsoleRoute[] {
  if (!external) return [];
  const { name, provider } = external;

  async function show({ person, read }: PersonVisit, message?: string, status?: number): Promise<ShownPage> {
    const identities = await read(listIdentities, person.account_id);
    return accountsPage({ name, identities, message, status });
  }

  return [
    page(path, (visit) => show(visit)),
    action(path, async ({ ctx, person }) => {
      await limits.consume('sign_in_address', addressKey(ctx));
      const request = { to: path, account_id: person.account_id };
      const pending = await services.run(beginExternalSignIn, provider, request);
      if (!pending) return externalFailurePage('unavailable', name, person);
      setExternalCookie(ctx, pending.token);
      // No redirect: Chromium applies form-action to all redirects after a form, and the provider may redirect elsewhere.
      ctx.set('Refresh', `0; url=${pending.address}`);
      return redirectPage(name, pending.address);
    }),
    action(`${path}/disconnect`, (visit) =>
      orShowFormAgain(
        async () => {
          const { form, person, write } = visit;
          const identity = { issuer: form.get('issuer') ?? '', subject: form.get('subject') ?? '' };
          await write(disconnectIdentity, person.account_id, identity);
          return { to: path, flash: successFlash('Disconnected.') };
        },
        ({ message, status }) => show(visit, message, status),
      ),
    ),
  ];
}

interface AccountsPage {
  /** Name of the provider. */
  name: string;
  identities: Awaited<ReturnType<typeof listIdentities>>;
  message: string | undefined;
  status: number | undefined;
}

function accountsPage({ name, identities, message, status }: AccountsPage): ShownPage {
  const body = (
    <>
      <Heading
        title={`Sign in with ${name}`}
        lead="Anyone who can sign in to your account there can also sign in to your account here."
        back={{ href: '/console/account', text: 'Account' }}
      />
      {message !== undefined && <Notice tone="danger">{message}</Notice>}
      {identities.map(({ issuer, subject, created_at }) => (
        <Card title={hostOf(issuer)} key={`${issuer} ${subject}`}>
          <Facts
            facts={[
              ['Account', <span class="code">{subject}</span>],
              ['Connected', <Time at={created_at} />],
            ]}
          />
          <Form action={`${path}/disconnect`} hidden={{ issuer, subject }}>
            <Actions>
              <Button kind="danger">Disconnect</Button>
            </Actions>
          </Form>
        </Card>
      ))}
      <Card>
        <Form action={path}>
          <Actions>
            {identities.length === 0 ? (
              <Button>Connect with {name}</Button>
            ) : (
              <Button kind="quiet">Connect another {name} account</Button>
            )}
          </Actions>
        </Form>
      </Card>
    </>
  );
  return { title: `Sign in with ${name}`, body, ...(status !== undefined && { status }) };
}

/** The page shown until the provider answers. */
function redirectPage(name: string, address: string): ShownPage {
  const title = `Continue to ${name}`;
  const body = (
    <>
      <Heading title={title} lead="You return here afterwards." />
      <Card>
        <ButtonLink href={address} kind="primary">
          Continue to {name}
        </ButtonLink>
      </Card>
    </>
  );
  return { title, body, shell: 'focus' };
}
