import {
  beginExternalSignIn,
  disconnectIdentity,
  listIdentities,
} from '../../../../services/people/external-identities.ts';
import { addressKey } from '../../../http/address-key.ts';
import { Time } from '../../components/rows.tsx';
import { focusPage } from '../../define/focus-page.tsx';
import { definePage } from '../../define/page.tsx';
import { hostOf } from '../../hosts.ts';
import type { ExternalSignIn } from '../../parts.ts';
import type { ConsoleRoute, ShownPage } from '../../route.ts';
import { externalFailurePage, setExternalCookie } from './external-sign-in.tsx';

/** Connects an account with the OpenID Connect provider for sign-in. */
export function externalAccountsPage({ name, provider }: ExternalSignIn): ConsoleRoute[] {
  return definePage({
    path: '/console/account/external',
    load: async ({ read, person }) => ({ identities: await read(listIdentities, person.account_id) }),
    title: `Sign in with ${name}`,
    lead: 'Anyone who can sign in to your account there can also sign in to your account here.',
    back: { href: '/console/account', text: 'Account' },
    sections: ({ button, list }) => [
      list({
        label: 'Connected accounts',
        read: ({ identities }) => identities,
        row: ({ issuer, subject, created_at }) => ({
          key: `${issuer} ${subject}`,
          title: hostOf(issuer),
          lines: [[<span class="code">{subject}</span>, ['connected ', <Time at={created_at} />]]],
          buttons: [
            { label: 'Disconnect', action: 'disconnect', hidden: { issuer, subject }, about: subject },
          ],
        }),
      }),
      button({
        name: '',
        button: ({ identities }) =>
          identities.length === 0 ? `Connect with ${name}` : `Connect another ${name} account`,
        kind: ({ identities }) => (identities.length === 0 ? 'primary' : 'quiet'),
        async submit({ address, ctx, parts, person }) {
          await parts.limits.consume('sign_in_address', addressKey(ctx));
          const request = { to: address, account_id: person.account_id };
          const pending = await parts.services.run(beginExternalSignIn, provider, request);
          if (!pending) return externalFailurePage('unavailable', name, person);
          setExternalCookie(ctx, pending.token);
          // No redirect: Chromium applies form-action to all redirects after a form, and the provider may redirect elsewhere.
          ctx.set('Refresh', `0; url=${pending.address}`);
          return redirectPage(name, pending.address);
        },
      }),
    ],
    changes: {
      async disconnect({ form, person, write }) {
        const identity = { issuer: form.get('issuer') ?? '', subject: form.get('subject') ?? '' };
        await write(disconnectIdentity, person.account_id, identity);
        return 'Disconnected.';
      },
    },
  });
}

/** The page shown until the provider answers. */
function redirectPage(name: string, href: string): ShownPage {
  const text = `Continue to ${name}`;
  return focusPage(text, null, { lead: 'You return here afterwards.', link: { href, text } });
}
