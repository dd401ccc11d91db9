-- The roles that every transaction takes on, see roles.ts. They belong to the cluster, so they may be there already (another
-- database's, or made beforehand by an administrator where the owner may not create roles), and may be made by another
-- database's migration at this moment. The owner becomes a member, so that it can take them on; it needs no superuser.
DO $$
DECLARE
  wanted text;
  membership text := CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['scanstream_app', 'scanstream_admin'] LOOP
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = wanted) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
      EXCEPTION
        WHEN duplicate_object OR unique_violation THEN
          NULL;
        WHEN insufficient_privilege THEN
          RAISE EXCEPTION 'the role % does not exist, and % may not create roles: run CREATE ROLE % NOLOGIN; GRANT % TO %; as an administrator',
            wanted, current_user, wanted, wanted, quote_ident(current_user) USING ERRCODE = 'insufficient_privilege';
      END;
    END IF;

    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = wanted AND (rolsuper OR rolbypassrls)) THEN
      RAISE EXCEPTION 'the role % is a superuser or has BYPASSRLS, so it would see every tenant: run ALTER ROLE % NOSUPERUSER NOBYPASSRLS',
        wanted, wanted USING ERRCODE = 'invalid_role_specification';
    END IF;

    IF NOT pg_catalog.pg_has_role(current_user, wanted, membership) THEN
      BEGIN
        EXECUTE format('GRANT %I TO CURRENT_USER', wanted);
      EXCEPTION
        WHEN unique_violation THEN
          NULL;
        WHEN insufficient_privilege THEN
          RAISE EXCEPTION '% may not take on the role %: run GRANT % TO % as an administrator',
            current_user, wanted, wanted, quote_ident(current_user) USING ERRCODE = 'insufficient_privilege';
      END;
    END IF;
  END LOOP;
END
$$;
