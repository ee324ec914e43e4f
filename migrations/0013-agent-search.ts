import type { Knex } from 'knex';

/**
 * Search for agents by handle and display name. Public agents have indexes of their own, so a search never reads hidden agents and its
 * response time does not reveal them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(String.raw`
    create extension if not exists unaccent;
    create extension if not exists pg_trgm;

    -- Normalized names for comparisons: one Unicode form, no accents, lower case. The body does not depend on the search path.
    create function fold_name(value text) returns text language sql immutable strict parallel safe
      return lower(unaccent('unaccent'::regdictionary, normalize(value, NFKC)));

    alter table agents
      add column search_name text collate "C" generated always as (left(fold_name(display_name), 200)) stored,
      add column search_text text generated always as (canonical_handle || ' ' || left(fold_name(display_name), 200)) stored;

    create index agents_public_handle on agents (canonical_handle, id) where visibility = 'public' and retired_at is null;
    create index agents_public_name on agents (search_name, id) where visibility = 'public' and retired_at is null;
    create index agents_public_trigrams on agents using gin (search_text gin_trgm_ops)
      where visibility = 'public' and retired_at is null;

    -- Public agents that contain a folded text, by id; those where a word begins with it come first. A function, so that
    -- enable_seqscan = off applies to it.
    create function public_agents_with(looked_for text, after_key text, after_id text, most int)
      returns table (id text, key text) language sql stable parallel safe set enable_seqscan = off as $$
        select id, key collate "C" from (
          select a.id, case when ' ' || translate(a.search_text, '.-_', '   ') like '% ' || pattern || '%' then '0' else '1' end as key
          from (select regexp_replace(looked_for, '([\\%_])', '\\\1', 'g') as pattern) p join agents a on true
          where a.visibility = 'public' and a.retired_at is null and a.search_text like '%' || pattern || '%'
            and not starts_with(a.canonical_handle, looked_for) and not starts_with(a.search_name, looked_for)
        ) found
        where (key collate "C", id) > (after_key, after_id) order by key collate "C", id limit most
      $$;

    -- The settings below exist once the library is loaded, which this call does.
    select show_limit();
    -- Public agents with a word similar to the folded text, but without the text itself. Comparing is expensive, so at most "most" very
    -- similar ones and "most" less similar ones are compared.
    create function public_agents_like(looked_for text, most int)
      returns table (id text, likeness real) language sql stable parallel safe set enable_seqscan = off
      set pg_trgm.strict_word_similarity_threshold = 0.5 set pg_trgm.word_similarity_threshold = 0.3 as $$
        select id, word_similarity(looked_for, search_text) from (
          (select a.id, a.search_text from agents a
           where a.visibility = 'public' and a.retired_at is null and looked_for <<% a.search_text limit most)
          union
          (select a.id, a.search_text from agents a
           where a.visibility = 'public' and a.retired_at is null and looked_for <% a.search_text limit most)
        ) alike where strpos(search_text, looked_for) = 0
      $$;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function public_agents_like, public_agents_with;
    alter table agents drop column search_text, drop column search_name;
    drop function fold_name;
  `);
}
