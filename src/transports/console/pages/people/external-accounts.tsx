import { authorFromPerson } from '../../../../domain/auth/audit.ts';
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

/** Connecting an account with an OpenID Connect provider, so that its person can sign in there. Nothing where there is none. */
export function externalAccountRoutes({ unitOfWork, limits, external }: PageParts): ConsoleRoute[] {
  if (!external) return [];
  const { name, provider } = external;

  async function show({ person }: PersonVisit, message?: string, status?: number): Promise<ShownPage> {
    const identities = await unitOfWork.readAsSystem((all) => listIdentities(all, person.account_id));
    return accountsPage({ name, identities, message, status });
  }

  return [
    page(path, (visit) => show(visit)),
    action(path, async ({ ctx, person }) => {
      await limits.consume('sign_in_address', addressKey(ctx));
      const wish = { to: path, account_id: person.account_id };
      const begun = await beginExternalSignIn(unitOfWork, provider, wish);
      if (!begun) return externalFailurePage('unavailable', name, person);
      setExternalCookie(ctx, begun.token);
      // Not a redirect: Chromium holds those that follow a form to form-action, all the way, and the provider may send people on.
      ctx.set('Refresh', `0; url=${begun.address}`);
      return redirectPage(name, begun.address);
    }),
    action(`${path}/disconnect`, (visit) =>
      orShowFormAgain(
        async () => {
          const { form, person } = visit;
          const identity = { issuer: form.get('issuer') ?? '', subject: form.get('subject') ?? '' };
          await unitOfWork.writeAsSystem(
            (work) => disconnectIdentity(work, person.account_id, identity),
            authorFromPerson(person),
          );
          return { to: path, flash: successFlash('That connection is ended.') };
        },
        ({ message, status }) => show(visit, message, status),
      ),
    ),
  ];
}

interface AccountsPage {
  /** The provider's. */
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
        lead="Whoever is signed in there as you can then sign in here as you."
        back={{ href: '/console/account', text: 'Account' }}
      />
      {message !== undefined && <Notice tone="danger">{message}</Notice>}
      {identities.map(({ issuer, subject, created_at }) => (
        <Card title={hostOf(issuer)} key={`${issuer} ${subject}`}>
          <Facts
            facts={[
              ['You there', <span class="code">{subject}</span>],
              ['Connected', <Time at={created_at} />],
            ]}
          />
          <Form action={`${path}/disconnect`} hidden={{ issuer, subject }}>
            <Actions>
              <Button kind="danger">End this connection</Button>
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
              <Button kind="quiet">Connect another account of {name}</Button>
            )}
          </Actions>
        </Form>
      </Card>
    </>
  );
  return { title: `Sign in with ${name}`, body, ...(status !== undefined && { status }) };
}

/** For as long as the provider takes to answer. */
function redirectPage(name: string, address: string): ShownPage {
  const title = `To ${name}`;
  const body = (
    <>
      <Heading title={title} lead="You come back here afterwards." />
      <Card>
        <ButtonLink href={address} kind="primary">
          Go on to {name}
        </ButtonLink>
      </Card>
    </>
  );
  return { title, body, shell: 'focus' };
}
