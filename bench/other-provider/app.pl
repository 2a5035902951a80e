#!/usr/bin/env perl
# The OAI-PMH provider that Debian packages, as its documentation sets it up, for `node bench/run.ts --paging`:
# apt-get install libdancer-plugin-catmandu-oai-perl starman
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Catmandu::Store::Listed;
use Dancer;
use Dancer::Plugin::Catmandu::OAI;

set charset => 'UTF-8';
set log => 'warning';
set plugins => {
    'Catmandu::OAI' => {
        store                => 'listed',
        bag                  => 'data',
        datestamp_field      => 'datestamp',
        repositoryName       => 'Other provider',
        uri_base             => 'http://127.0.0.1/oai',
        adminEmail           => 'postmaster@example.org',
        earliestDatestamp    => '2020-01-01T00:00:00Z',
        deletedRecord        => 'persistent',
        repositoryIdentifier => 'example.org',
        delimiter            => ':',
        sampleIdentifier     => 'oai:example.org:1',
        limit                => 100,
        metadata_formats     => [{
            metadataPrefix    => 'oai_dc',
            schema            => 'http://www.openarchives.org/OAI/2.0/oai_dc.xsd',
            metadataNamespace => 'http://www.openarchives.org/OAI/2.0/oai_dc/',
            template          => "$FindBin::Bin/oai_dc.tt",
        }],
    },
};
Catmandu->config->{store}{listed} = { package => 'Listed', options => { size => $ENV{RECORDS} // 10_000 } };

oai_provider '/oai';

dance;
